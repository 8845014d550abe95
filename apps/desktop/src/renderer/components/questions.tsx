// SPDX-License-Identifier: MPL-2.0
import { useShallow } from 'zustand/react/shallow';
import { type Asked, placeOfQuestion } from '../../shared/daemon-state.ts';
import { useDaemon } from '../store/daemon-store.ts';
import { useTexts } from '../texts/texts.ts';
import { CollisionQuestion } from './collision-question.tsx';
import { InvitationQuestion } from './invitation-question.tsx';
import { OfferQuestion } from './offer-question.tsx';
import styles from './questions.module.css';

/** Pending questions: those of one transfer, or all that concern receiving. New ones are announced. */
export function Questions({ transfer }: { transfer?: number }) {
  const { t } = useTexts();
  const asked = useDaemon(
    useShallow(({ questions }) =>
      questions.filter((each) =>
        transfer === undefined ? placeOfQuestion(each) === 'receive' : each.transfer === transfer,
      ),
    ),
  );
  return (
    <section className={styles.list} aria-label={t('receive.questions')} aria-live="polite" hidden={asked.length === 0}>
      {asked.map((question) => (
        <Question key={question.question} asked={question} />
      ))}
    </section>
  );
}

function Question({ asked }: { asked: Asked }) {
  switch (asked.kind) {
    case 'offer':
      return <OfferQuestion asked={asked} />;
    case 'collision':
      return <CollisionQuestion asked={asked} />;
    case 'invitation':
      return <InvitationQuestion asked={asked} />;
    default:
      return null;
  }
}
