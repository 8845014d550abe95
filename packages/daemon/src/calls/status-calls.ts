// SPDX-License-Identifier: MPL-2.0
import { homedir } from 'node:os';
import { KeibiError } from '@keibidrop/protocol';
import type { DaemonParts } from '../daemon-parts.ts';
import type { Happened } from '../event-stream.ts';
import { LOCAL_API, type LocalGroup } from '../local/local-calls.ts';

/** The calls about the daemon itself: hello, status, events and stop. */
export function statusCalls(daemon: DaemonParts): LocalGroup<'hello' | 'status' | 'watch' | 'stop'> {
  const { version, configDir, contacts, events, transfers, questions, shares, mounts } = daemon;
  return {
    hello({ api }) {
      if (api !== LOCAL_API) throw new KeibiError('DAEMON_INCOMPATIBLE');
      return { api: LOCAL_API, version, pid: process.pid, configDir };
    },

    async status() {
      const [{ label, savePath, rendezvous }, identity] = await Promise.all([daemon.read({}), daemon.identity.state()]);
      const open = transfers.list().filter(({ end }) => end === undefined);
      const queued = open.filter(({ state }) => state === 'queued').length;
      return {
        version,
        pid: process.pid,
        configDir,
        stateDir: daemon.stateDir,
        label,
        savePath,
        rendezvous,
        started: daemon.started,
        running: open.length - queued,
        queued,
        clients: daemon.clients(),
        page: daemon.page.address,
        home: homedir(),
        identity: identity.state,
        identityReason: identity.reason,
      };
    },

    watch(wanted, { signal }) {
      const of = (transfer: number, happened: Happened) => ({ transfer, happened });
      const present = () => [
        of(0, contacts.happened()),
        ...transfers.list().map((one) => of(one.id, { $case: 'changed', value: one.view() })),
        ...questions.list().map((asked) => of(asked.transfer, { $case: 'question', value: asked })),
        ...shares.list().map((share) => of(0, { $case: 'share', value: share })),
        ...mounts.list().map((mount) => of(0, { $case: 'mount', value: mount })),
      ];
      return events.watch(present, wanted, signal);
    },

    async stop() {
      return { unfinished: await daemon.stop() };
    },
  };
}
