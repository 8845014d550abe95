// SPDX-License-Identifier: MPL-2.0
import { homedir } from 'node:os';
import { KeibiError } from '@keibidrop/protocol';
import type { DaemonParts } from '../daemon-parts.ts';
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
      const present = () => [
        { transfer: 0, event: contacts.event() },
        ...transfers.list().map((one) => ({ transfer: one.id, event: { event: 'transfer', ...one.view() } })),
        ...questions.list().map(({ question, transfer, kind, json }) => ({
          transfer,
          event: { event: 'question', question, kind, ...JSON.parse(json) },
        })),
        ...shares.list().map((share) => ({ transfer: 0, event: { event: 'share', ...share } })),
        ...mounts.list().map((mount) => ({ transfer: 0, event: { event: 'mount', ...mount } })),
      ];
      return events.watch(present, wanted, signal);
    },

    async stop() {
      return { unfinished: await daemon.stop() };
    },
  };
}
