// SPDX-License-Identifier: MPL-2.0
import { FolderOpen, FolderPlus, Link2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { EmptyState } from '../../components/feedback/empty-state.tsx';
import { RowList } from '../../components/layout/row-list.tsx';
import { Section } from '../../components/layout/section.tsx';
import { ViewHead } from '../../components/layout/view-head.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { useRoute } from '../../store/route.ts';
import { useTexts } from '../../texts/texts.ts';
import { ConnectDialog } from './connect-dialog.tsx';
import { GuestRow } from './guest-row.tsx';
import { Mounting } from './mounting.tsx';
import { OwnRow } from './own-row.tsx';
import { ShareBrowser } from './share-browser.tsx';
import { ShareDialog } from './share-dialog.tsx';
import { ShareInvitations } from './share-invitations.tsx';

/** Folders shared by this computer and with it. The address names the one being browsed. */
export function MountsView() {
  const { item } = useRoute();
  return item === undefined ? <Overview /> : <ShareBrowser key={item} place={item} />;
}

function Overview() {
  const { t } = useTexts();
  const shares = useDaemon((state) => state.shares);
  const live = useDaemon(({ link }) => link.state !== 'connecting');
  const [asking, setAsking] = useState<'share' | 'connect'>();
  const own = shares.filter(({ kind }) => kind === 'own');
  const guest = shares.filter(({ kind }) => kind === 'guest');
  const close = () => setAsking(undefined);
  return (
    <>
      <ViewHead title={t('mounts.title')}>
        <Button icon={Link2} onClick={() => setAsking('connect')}>
          {t('mounts.connect')}
        </Button>
        <Button look="primary" icon={FolderPlus} onClick={() => setAsking('share')}>
          {t('mounts.share')}
        </Button>
      </ViewHead>
      <ShareInvitations />
      {live && shares.length === 0 && (
        <EmptyState icon={FolderOpen} title={t('mounts.emptyTitle')}>
          <p>{t('mounts.emptyText')}</p>
        </EmptyState>
      )}
      {guest.length > 0 && (
        <Section title={t('mounts.guest')}>
          <RowList label={t('mounts.guest')}>
            {guest.map((share) => (
              <GuestRow key={share.id} share={share} />
            ))}
          </RowList>
        </Section>
      )}
      {own.length > 0 && (
        <Section title={t('mounts.own')} about={t('mounts.ownText')}>
          <RowList label={t('mounts.own')}>
            {own.map((share) => (
              <OwnRow key={share.id} share={share} />
            ))}
          </RowList>
        </Section>
      )}
      <Mounting possible={guest.length > 0} />
      {asking === 'share' && <ShareDialog onClose={close} />}
      {asking === 'connect' && <ConnectDialog onClose={close} />}
    </>
  );
}
