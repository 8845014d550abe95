// SPDX-License-Identifier: MPL-2.0
import { mkdir } from 'node:fs/promises';
import type { Running } from '../harness/running.ts';
import { CODE, LISTEN, type Sandbox, type StartOptions } from '../harness/sandbox.ts';

/** A running `keibidrop relay` and its address. */
export interface RelayServer {
  server: Running;
  address: string;
  port: number;
}

/** Starts a rendezvous with a relay on loopback, at a free port or the one given. */
export async function startRelay(room: Sandbox, port = 0, options: StartOptions = {}): Promise<RelayServer> {
  const server = await room.start(['relay', '--listen', `127.0.0.1:${port}`, '--json'], options);
  const listening = await server.until('listening');
  return { server, address: `127.0.0.1:${listening.port}`, port: listening.port as number };
}

/** A separate runtime directory, in which no sender of this machine is found, as on another computer. */
export async function elsewhere(room: Sandbox): Promise<StartOptions> {
  const runtime = room.path('elsewhere');
  await mkdir(runtime, { mode: 0o700, recursive: true });
  return { env: { XDG_RUNTIME_DIR: runtime } };
}

/** A sender of CODE that also waits at the rendezvous. */
export async function sendAt(rendezvous: string, room: Sandbox, args: string[]): Promise<Running> {
  const code = args.includes('--code') ? [] : ['--code', CODE];
  const common = ['--json', ...code, ...LISTEN, '--rendezvous', rendezvous];
  const sender = await room.start(['send', ...args, ...common]);
  await sender.until('rendezvous', ({ state }) => state === 'open');
  return sender;
}

/** A receiver that can find CODE only at the rendezvous. */
export async function receiveAt(
  rendezvous: string,
  room: Sandbox,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  const { env: away } = await elsewhere(room);
  return room.receive(['--out', 'out', '--rendezvous', rendezvous, ...args], { env: { ...away, ...env } });
}
