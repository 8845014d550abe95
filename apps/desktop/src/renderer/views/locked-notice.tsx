// SPDX-License-Identifier: MPL-2.0
import { Notice } from '../components/feedback/notice.tsx';
import { useDaemon } from '../store/daemon-store.ts';
import { useIdentity } from '../store/own-identity.ts';
import { hrefOf, useRoute } from '../store/route.ts';
import { useTexts } from '../texts/texts.ts';

/**
 * Warns that contacts cannot reach the user while a passphrase locks the identity.
 * Not shown without contacts, nor in the people view, which unlocks it.
 */
export function LockedNotice() {
  const { t } = useTexts();
  const { view } = useRoute();
  const own = useIdentity(useDaemon(({ contacts }) => contacts.length > 0));
  if (own.state !== 'locked' || view === 'people') return null;
  return (
    <Notice look="warning" title={t('frame.lockedTitle')}>
      <p>{t('frame.lockedText')}</p>
      <p>
        <a href={hrefOf('people')}>{t('frame.unlock')}</a>
      </p>
    </Notice>
  );
}
