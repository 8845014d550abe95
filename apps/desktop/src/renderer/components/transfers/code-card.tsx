// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import { codeLink } from '@keibidrop/daemon/local';
import { X } from 'lucide-react';
import { useApi } from '../../api/api-context.ts';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import { QrCode } from '../content/qr-code.tsx';
import { Button } from '../controls/button.tsx';
import { CopyButton } from '../controls/copy-button.tsx';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import { Card } from '../layout/card.tsx';
import { Stack } from '../layout/stack.tsx';
import styles from './code-card.module.css';
import { nameOf, TransferName } from './transfer-words.tsx';

const ALL_GUESSES = 3;

/** The code of a waiting send: to read aloud, to copy or to scan. */
export function CodeCard({ transfer }: { transfer: TransferView }) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const { id, code, guessesLeft, receivers } = transfer;
  if (code === undefined) return null;
  const cancel = () => act((signal) => api.call('control', { transfer: id, action: 'cancel' }, { signal }));
  return (
    <Card className={styles.card} aria-label={nameOf(transfer, t)}>
      <Stack gap={3} className={styles.words}>
        <p className={styles.lead}>
          {t('send.codeLead')}{' '}
          <strong>
            <TransferName transfer={transfer} />
          </strong>
        </p>
        <output className={styles.code} aria-label={t('send.code')} data-testid="code">
          {code}
        </output>
        <div className={styles.actions}>
          <CopyButton look="primary" text={code} label={t('send.copyCode')} />
          <CopyButton text={codeLink(code)} label={t('send.copyLink')} />
          <Button look="quiet" icon={X} busy={busy} onClick={cancel}>
            {t('transfers.cancel')}
          </Button>
        </div>
        <p className={styles.waiting} role="status">
          <span className={styles.pulse} aria-hidden="true" />
          {t(receivers === 1 ? 'send.waitingForOne' : 'send.waitingForMore')}
        </p>
        {guessesLeft > 0 && guessesLeft < ALL_GUESSES && (
          <p className={styles.warning}>{t('send.guessesLeft', { count: guessesLeft })}</p>
        )}
        <ErrorNotice error={error} />
      </Stack>
      <div className={styles.qr}>
        <QrCode text={codeLink(code)} label={t('send.qr')} />
      </div>
    </Card>
  );
}
