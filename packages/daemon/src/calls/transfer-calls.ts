// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { DaemonParts } from '../daemon-parts.ts';
import { folderPath } from '../folder-path.ts';
import { invitationTo } from '../folders/pull-invitation.ts';
import type { Caller, LocalGroup } from '../local/local-calls.ts';
import type { Transfer } from '../transfers/transfer.ts';

type Names = 'send' | 'receive' | 'transfers' | 'control' | 'files' | 'questions' | 'answer';

/** The calls about sends and receives. */
export function transferCalls({ transfers, shares, questions }: DaemonParts): LocalGroup<Names> {
  const { drops, lists } = transfers;
  const actions: Record<string, (transfer: Transfer, caller: Caller) => unknown> = {
    pause: (transfer) => transfer.pause(true),
    resume: (transfer) => transfer.pause(false),
    cancel: (transfer) => transfer.cancel(),
    retry: (transfer, caller) => transfers.retry(transfer, (paths) => invitationTo(shares, paths, caller)),
    first: (transfer) => transfers.first(transfer),
    remove: (transfer) => transfers.remove(transfer),
    shown: (transfer) => transfers.shown(transfer),
  };
  return {
    async send(request) {
      const { drop } = request;
      if (drop === undefined) return { transfer: (await transfers.add({ kind: 'send', request })).view() };
      if (request.paths.length > 0) throw new KeibiError('USAGE', 'Say what to send: paths, or a drop.');
      const paths = drops.take(drop);
      try {
        return { transfer: (await transfers.add({ kind: 'send', request: { ...request, paths } })).view() };
      } catch (reason) {
        drops.giveBack(drop);
        throw reason;
      }
    },

    async receive(request) {
      return { transfer: (await transfers.add({ kind: 'receive', request })).view() };
    },

    transfers: () => ({ transfers: transfers.list().map((transfer) => transfer.view()) }),

    async control({ transfer: id, action }, caller) {
      const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
      if (act === undefined)
        throw new KeibiError('USAGE', `The action must be one of ${Object.keys(actions).join(', ')}.`);
      if (id === 0 && (action === 'pause' || action === 'resume')) {
        transfers.pauseAll(action === 'pause');
        return { transfer: undefined };
      }
      const transfer = transfers.get(id);
      await act(transfer, caller);
      return { transfer: transfer.view() };
    },

    files(request, { signal }) {
      transfers.get(request.transfer);
      return lists.part(request, signal);
    },

    questions: () => ({ questions: questions.list() }),

    answer({ question, out, ...given }) {
      questions.answer(question, { ...given, out: out === undefined ? out : folderPath(out) });
      return {};
    },
  };
}
