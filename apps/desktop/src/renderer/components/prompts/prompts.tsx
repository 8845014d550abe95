// SPDX-License-Identifier: MPL-2.0
import { useShallow } from 'zustand/react/shallow';
import { type Asked, placeOfQuestion } from '../../../shared/daemon-state.ts';
import { useDaemon } from '../../store/daemon-store.ts';
import { useTexts } from '../../texts/texts.ts';
import { Stack } from '../layout/stack.tsx';
import { CollisionPrompt } from './collision-prompt.tsx';
import { InvitationPrompt } from './invitation-prompt.tsx';
import { OfferPrompt } from './offer-prompt.tsx';

/** Pending questions: those of one transfer, or all that concern receiving. New ones are announced. */
export function Prompts({ transfer }: { transfer?: number }) {
  const { t } = useTexts();
  const asked = useDaemon(
    useShallow(({ questions }) =>
      questions.filter((each) =>
        transfer === undefined ? placeOfQuestion(each) === 'receive' : each.transfer === transfer,
      ),
    ),
  );
  return (
    <Stack as="section" gap={3} aria-label={t('receive.questions')} aria-live="polite" hidden={asked.length === 0}>
      {asked.map((question) => (
        <Prompt key={question.question} asked={question} />
      ))}
    </Stack>
  );
}

function Prompt({ asked }: { asked: Asked }) {
  switch (asked.kind) {
    case 'offer':
      return <OfferPrompt asked={asked} />;
    case 'collision':
      return <CollisionPrompt asked={asked} />;
    case 'invitation':
      return <InvitationPrompt asked={asked} />;
    default:
      return null;
  }
}
