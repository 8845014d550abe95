// SPDX-License-Identifier: MPL-2.0
import type { LocalClient, SendRequest, TransferView } from '@keibidrop/daemon';
import { KeibiError } from '@keibidrop/protocol';
import type { Settings } from '@keibidrop/settings';
import { codeLines } from '../display/code-lines.ts';
import { lineOf } from '../display/json-lines.ts';
import type { Everywhere } from '../options/everywhere.ts';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { withDaemon } from './daemon-connection.ts';
import { errorOf, viewsOf } from './daemon-transfer.ts';

/** Hands a transfer over to the daemon and prints its code. @throws the error of a send that fails before it has a code */
export async function handOver(
  { config, json, asks = false, coded = true }: Everywhere & { asks?: boolean; coded?: boolean },
  io: Io,
  peer: PeerPackage,
  order: (daemon: LocalClient) => Promise<TransferView | undefined>,
): Promise<number> {
  return withDaemon(io, peer, { config, start: true }, async (daemon) => {
    const taken = await order(daemon);
    if (taken === undefined) throw new KeibiError('DAEMON_INCOMPATIBLE');
    const transfer = taken.kind === 'send' && coded ? await withCode(daemon, taken.id, io) : taken;
    if (json) io.stdout.write(lineOf('transfer', transfer));
    else {
      const { id, code, state } = transfer;
      if (code !== undefined) io.stdout.write(codeLines(code, 'receive', io));
      io.stdout.write(`Transfer ${id} is ${state} in the background. See keibidrop transfers.\n`);
      if (asks) io.stdout.write(`Accept it before it writes: keibidrop transfers accept ${id}\n`);
    }
    return 0;
  });
}

/** Waits until a send has its code, or is in a state without one. @throws the error of the send */
async function withCode(daemon: LocalClient, id: number, { signal }: Io): Promise<TransferView> {
  for await (const view of viewsOf(daemon, id, { signal })) {
    if (view.error !== undefined) throw errorOf(view.error);
    if (view.code !== undefined || view.state !== 'waiting') return view;
  }
  throw new KeibiError('DAEMON_LOST');
}

/** How the daemon reaches peers for this command. */
export function daemonReach(options: Everywhere, settings: Settings): NonNullable<SendRequest['reach']> {
  const { discovery, rendezvous, limitBytesPerSecond } = settings;
  return {
    rendezvous,
    discovery: typeof discovery === 'string' ? discovery : discovery.interface,
    directOnly: options.directOnly === true,
    relayOnly: options.relayOnly === true,
    suite: options.suite,
    limit: limitBytesPerSecond,
  };
}
