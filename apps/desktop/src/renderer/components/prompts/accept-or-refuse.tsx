// SPDX-License-Identifier: MPL-2.0
import { Check, X } from 'lucide-react';
import { useTexts } from '../../texts/texts.ts';
import { Button } from '../controls/button.tsx';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import styles from './prompts.module.css';
import { useAnswer } from './use-answer.ts';

/** The two answers to an offer. `accepted`: sent with the answer that accepts. */
export function AcceptOrRefuse({ question, accepted }: { question: number; accepted: { out?: string } }) {
  const { t } = useTexts();
  const { answer, busy, error } = useAnswer(question);
  return (
    <>
      <ErrorNotice error={error} />
      <div className={styles.actions}>
        <Button look="primary" icon={Check} busy={busy} onClick={() => answer('yes', accepted)}>
          {t('receive.accept')}
        </Button>
        <Button icon={X} busy={busy} onClick={() => answer('no')}>
          {t('receive.refuse')}
        </Button>
      </div>
    </>
  );
}
