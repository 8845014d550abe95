// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import type { LocalClient, ReceiveRequest, SendRequest, Settings, TransferView } from '@keibidrop/peer';
import { type Code, KeibiError } from '@keibidrop/protocol';
import type { ReceiveCommand } from '../commands/receive.ts';
import type { SendCommand } from '../commands/send.ts';
import { lineOf } from '../display/json-lines.ts';
import type { Everywhere } from '../options/everywhere.ts';
import { unlockForContacts } from '../options/saving.ts';
import type { PeerPackage } from '../peer-package.ts';
import { type Io, paint } from '../terminal/io.ts';
import { withDaemon } from './daemon-connection.ts';
import { errorOf, viewsOf } from './daemon-transfer.ts';

/** Hands a send over to the daemon and prints its code. @throws the error of a send that fails before it has a code */
export async function sendInBackground(
  options: SendCommand,
  settings: Settings,
  io: Io,
  peer: PeerPackage,
): Promise<number> {
  const { text, code, insecureCode = false, listen, receivers, now = false, incognito = false } = options;
  const request: Partial<SendRequest> = {
    paths: options.paths.map((path) => resolve(io.cwd, path)),
    text,
    code: code?.text,
    wordCount: settings.codeLength,
    insecureCode,
    listen,
    receivers,
    to: options.to ?? [],
    now,
    incognito,
    save: options.save,
    reach: daemonReach(options, settings),
  };
  return handOver({ ...options, coded: options.to === undefined }, io, peer, async (daemon) => {
    await unlockForContacts(daemon, options, io);
    return (await daemon.call('send', request, { signal: io.signal })).transfer;
  });
}

/** Hands a receive over to the daemon. */
export async function receiveInBackground(
  options: ReceiveCommand & { code: Code },
  settings: Settings,
  io: Io,
  peer: PeerPackage,
): Promise<number> {
  const { code, connect, yes, collisions, verify = false, durable = false, incognito = false } = options;
  const request: Partial<ReceiveRequest> = {
    code: code.text,
    out: settings.savePath,
    connect,
    yes,
    collisions,
    verify,
    durable,
    patienceMs: settings.patienceMs,
    incognito,
    save: options.save,
    reach: daemonReach(options, settings),
  };
  return handOver({ ...options, asks: !yes }, io, peer, async (daemon) => {
    await unlockForContacts(daemon, options, io);
    return (await daemon.call('receive', request, { signal: io.signal })).transfer;
  });
}

async function handOver(
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
      if (code !== undefined) {
        io.stdout.write(`Code: ${paint(io.stdout, 'bold', code)}\n`);
        io.stdout.write(`On the other computer: ${paint(io.stdout, 'bold', `keibidrop receive ${code}`)}\n`);
      }
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
