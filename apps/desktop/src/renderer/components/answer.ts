// SPDX-License-Identifier: MPL-2.0
import { useApi } from '../api/api-context.ts';
import { type Acting, useAct } from '../store/act.ts';

/** Answers a question of the daemon. That somebody else was faster is no failure: it goes away by itself. */
export function useAnswer(question: number): Acting & { answer(answer: string, always?: boolean): Promise<boolean> } {
  const api = useApi();
  const acting = useAct();
  return {
    ...acting,
    error: acting.error?.code === 'QUESTION_GONE' ? undefined : acting.error,
    answer: (answer, always = false) =>
      acting.act((signal) => api.call('answer', { question, answer, always }, { signal })),
  };
}
