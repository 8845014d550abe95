// SPDX-License-Identifier: MPL-2.0
import type { RequestOf } from '@keibidrop/daemon/local';
import { useApi } from '../../api/api-context.ts';
import { type ActionRunner, useAction } from '../../store/use-action.ts';

type More = Partial<Pick<RequestOf<'answer'>, 'always' | 'out'>>;

/** Answers a question of the daemon. A question already answered elsewhere is no error: it disappears. */
export function useAnswer(question: number): ActionRunner & { answer(answer: string, more?: More): Promise<boolean> } {
  const api = useApi();
  const runner = useAction();
  return {
    ...runner,
    error: runner.error?.code === 'QUESTION_GONE' ? undefined : runner.error,
    answer: (answer, more) => runner.act((signal) => api.call('answer', { question, answer, ...more }, { signal })),
  };
}
