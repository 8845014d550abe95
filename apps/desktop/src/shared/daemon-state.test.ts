// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import { expect, it } from 'vitest';
import { VIEWS } from './api.ts';
import { type Asked, attentionAt, type DaemonState } from './daemon-state.ts';

const asked = (question: number, kind: string, to?: string): Asked => ({ question, transfer: 0, kind, about: { to } });

it('counts questions by their view, and unfinished transfers', () => {
  const states = ['running', 'done', 'queued', 'failed', 'cancelled'].entries();
  const state: Pick<DaemonState, 'transfers' | 'questions'> = {
    transfers: new Map([...states].map(([id, state]) => [id, { id, state } as TransferView])),
    questions: [
      asked(1, 'invitation', 'share'),
      asked(2, 'invitation', 'files'),
      asked(3, 'offer'),
      asked(4, 'collision'),
    ],
  };
  const counts = VIEWS.map((view) => [view, attentionAt(view, state)]).filter(([, count]) => count !== 0);
  expect(Object.fromEntries(counts)).toEqual({ transfers: 2, receive: 3, mounts: 1 });
});
