// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';
import { useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Notice } from '../../components/feedback/notice.tsx';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './people.module.css';
import { Phrase } from './phrase.tsx';

export interface VerifyDialogProps {
  contact: ContactView;
  /** Undefined while our identity is locked. */
  ownWords: string | undefined;
  onClose(): void;
}

/** Shows both fingerprints as words and asks whether both people see the same. */
export function VerifyDialog({ contact, ownWords, onClose }: VerifyDialogProps) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const [differ, setDiffer] = useState(false);
  const name = harmless(contact.name);
  const match = async () => {
    const done = await act((signal) => api.call('changeContact', { name: contact.name, verified: true }, { signal }));
    if (done) onClose();
  };
  return (
    <Dialog
      title={t('people.verifyTitle', { name })}
      onClose={onClose}
      actions={
        <>
          <Button disabled={differ} onClick={() => setDiffer(true)}>
            {t('people.differ')}
          </Button>
          <Button look="primary" busy={busy} disabled={differ || ownWords === undefined} onClick={() => void match()}>
            {t('people.match')}
          </Button>
        </>
      }
    >
      <p>{t('people.verifyText', { name })}</p>
      <div className={styles.compared}>
        <div className={styles.phrase}>
          <h3>{t('people.yourWords')}</h3>
          {ownWords === undefined ? <p>{t('people.lockedTitle')}</p> : <Phrase words={ownWords} />}
        </div>
        <div className={styles.phrase}>
          <h3>{t('people.wordsOf', { name })}</h3>
          <Phrase words={contact.words} />
        </div>
      </div>
      {differ && (
        <Notice look="danger" title={t('people.differTitle')}>
          <p>{t('people.differText')}</p>
        </Notice>
      )}
      <ErrorNotice error={error} />
    </Dialog>
  );
}
