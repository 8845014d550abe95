// SPDX-License-Identifier: MPL-2.0
import type { RequestOf } from '@keibidrop/peer/local';
import { useApi } from '../api/api-context.ts';
import { type Acting, useAct } from '../store/act.ts';

type More = Partial<Pick<RequestOf<'answer'>, 'always' | 'out'>>;

/** Answers a question of the daemon. A question already answered elsewhere is no error: it disappears. */
export function useAnswer(question: number): Acting & { answer(answer: string, more?: More): Promise<boolean> } {
  const api = useApi();
  const acting = useAct();
  return {
    ...acting,
    error: acting.error?.code === 'QUESTION_GONE' ? undefined : acting.error,
    answer: (answer, more) => acting.act((signal) => api.call('answer', { question, answer, ...more }, { signal })),
  };
}
