// SPDX-License-Identifier: MPL-2.0
import { mkdir } from 'node:fs/promises';
import type { Running } from '../harness/running.ts';
import { CODE, LISTEN, type Sandbox, type StartOptions } from '../harness/sandbox.ts';

/** A `keibidrop relay` that runs, and where. */
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

/** A runtime directory of its own: who runs with it finds nobody on this machine, as if it were another one. */
export async function elsewhere(room: Sandbox): Promise<StartOptions> {
  const runtime = room.path('elsewhere');
  await mkdir(runtime, { mode: 0o700, recursive: true });
  return { env: { XDG_RUNTIME_DIR: runtime } };
}

/** A sender of CODE that waits at the rendezvous too. */
export async function sendAt(rendezvous: string, room: Sandbox, args: string[]): Promise<Running> {
  const code = args.includes('--code') ? [] : ['--code', CODE];
  const common = ['--json', ...code, ...LISTEN, '--rendezvous', rendezvous];
  const sender = await room.start(['send', ...args, ...common]);
  await sender.until('rendezvous', ({ state }) => state === 'open');
  return sender;
}

/** A receiver that can find CODE at the rendezvous only. */
export async function receiveAt(
  rendezvous: string,
  room: Sandbox,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  const { env: away } = await elsewhere(room);
  return room.receive(['--out', 'out', '--rendezvous', rendezvous, ...args], { env: { ...away, ...env } });
}
