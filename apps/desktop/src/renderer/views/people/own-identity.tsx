// SPDX-License-Identifier: MPL-2.0
import { PeerText } from '../../components/content/peer-text.tsx';
import { QrCode } from '../../components/content/qr-code.tsx';
import { CopyButton } from '../../components/controls/copy-button.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Card } from '../../components/layout/card.tsx';
import { Disclosure } from '../../components/layout/disclosure.tsx';
import type { Identity, OwnIdentity } from '../../store/own-identity.ts';
import { useStatus } from '../../store/use-status.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './people.module.css';
import { Phrase } from './phrase.tsx';
import { UnlockForm } from './unlock-form.tsx';

/** The user's identity: a link to pass on, as text and QR code, and words to compare. */
export function OwnIdentityCard({ own }: { own: OwnIdentity }) {
  if (own.state === 'asked') return null;
  if (own.state === 'failed') return <ErrorNotice error={own.error} />;
  return <Card>{own.state === 'locked' ? <UnlockForm /> : <Known identity={own.identity} />}</Card>;
}

function Known({ identity: { link, words, fingerprint } }: { identity: Identity }) {
  const { t } = useTexts();
  const label = useStatus()?.label ?? '';
  return (
    <section className={styles.you} aria-label={t('people.you')}>
      <div>
        <h2>{t('people.you')}</h2>
        <PeerText text={label} className={styles.label} />
      </div>
      <QrCode text={link} label={t('people.youQr')} />
      <p className={styles.youText}>{t('people.youText')}</p>
      <CopyButton text={link} label={t('people.copyLink')} />
      <Phrase words={words} />
      <Disclosure title={t('people.fingerprint')}>
        <p className={styles.fingerprint}>{fingerprint}</p>
        <CopyButton text={fingerprint} label={t('people.copyFingerprint')} />
      </Disclosure>
    </section>
  );
}
