// SPDX-License-Identifier: MPL-2.0
import type { ShareView } from '@keibidrop/daemon/local';
import { FolderSymlink, Unplug } from 'lucide-react';
import { useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless, PeerText } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Row } from '../../components/layout/row-list.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { go } from '../../store/route.ts';
import { useTexts } from '../../texts/texts.ts';
import { MountDialog } from './mount-dialog.tsx';
import styles from './mounts.module.css';

/** A folder shared by another person. */
export function GuestRow({ share }: { share: ShareView }) {
  const { name, contact, peer, state, readOnly } = share;
  const { t } = useTexts();
  const api = useApi();
  const [asking, setAsking] = useState<'leave' | 'mount'>();
  const mounted = useDaemon(({ mounts }) => mounts.some((mount) => mount.share === name));
  const from = contact ?? peer;
  const shown = harmless(name);
  const connected = state === 'connected';
  return (
    <Row
      mark={<FolderSymlink size={22} aria-hidden="true" />}
      name={<PeerText text={name} />}
      about={
        <>
          <span className={connected ? styles.connected : undefined}>
            {t(connected ? 'mounts.connected' : 'mounts.away')}
          </span>
          {from !== undefined && <bdi>{t('mounts.from', { peer: harmless(from) })}</bdi>}
          {readOnly && <span>{t('mounts.readOnly')}</span>}
        </>
      }
      actions={
        <>
          <Button
            disabled={!connected}
            aria-label={t('mounts.openOf', { name: shown })}
            onClick={() => go('mounts', name)}
          >
            {t('mounts.open')}
          </Button>
          {!mounted && (
            <Button
              disabled={!connected}
              aria-label={t('mounts.mountOf', { name: shown })}
              onClick={() => setAsking('mount')}
            >
              {t('mounts.mount')}
            </Button>
          )}
          <Button look="quiet" icon={Unplug} iconOnly onClick={() => setAsking('leave')}>
            {t('mounts.leaveOf', { name: shown })}
          </Button>
        </>
      }
    >
      {asking === 'mount' && <MountDialog share={share} onClose={() => setAsking(undefined)} />}
      {asking === 'leave' && (
        <ConfirmDialog
          title={t('mounts.leaveTitle', { name: shown })}
          text={t('mounts.leaveText')}
          verb={t('mounts.leave')}
          onConfirm={() => api.call('endShare', { share: name })}
          onClose={() => setAsking(undefined)}
        />
      )}
    </Row>
  );
}
