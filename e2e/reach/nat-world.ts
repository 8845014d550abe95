// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Running } from '../harness/running.ts';
import { CODE, run, Sandbox } from '../harness/sandbox.ts';
import { PROGRAM } from '../hostile/command.ts';
import { elsewhere } from './away.ts';

const NAT = fileURLToPath(new URL('../tools/nat.sh', import.meta.url));

/** `cone`: a home router's, whose ports look the same from everywhere; `sym`: another port for each destination. */
export type NatType = 'cone' | 'sym';
/** The places of e2e/tools/nat.sh: a peer and its router, twice, and the server between them. */
export type Place = 'A' | 'natA' | 'B' | 'natB' | 'pub';

/** Where the server of the tests waits, and a second address of it. */
export const SERVER = '203.0.113.1:26431';
const SECOND_SERVER = '203.0.113.2:26431';
export const HAS_NFT = spawnSync('nft', ['--version']).status === 0;

/** Two peers, A that sends and B that receives, each behind its own NAT, and a server that both reach. Needs root. */
export class NatWorld {
  readonly room: Sandbox;
  readonly #prefix = `kd${process.pid}n${Math.random().toString(36).slice(2, 5)}`;

  /** The server runs. */
  static async open(a: NatType, b: NatType): Promise<NatWorld> {
    const world = new NatWorld(await Sandbox.open());
    world.#nat('up', a, b);
    const server = await world.start('pub', ['relay', '--listen', '0.0.0.0:26431', '--json']);
    await server.until('listening');
    return world;
  }

  private constructor(room: Sandbox) {
    this.room = room;
  }

  async close(): Promise<void> {
    await this.room.close();
    this.#nat('down');
  }

  /** Runs the program in one of the namespaces; B has a runtime directory of its own, so that the registry does not help. */
  async start(where: Place, args: string[], env: Record<string, string> = {}): Promise<Running> {
    const command = [...this.in(where), process.execPath, PROGRAM];
    const away = where === 'B' ? (await elsewhere(this.room)).env : {};
    return this.room.start(args, { command, env: { ...away, ...env } });
  }

  /** What runs a command in one of the namespaces. */
  in(where: Place): string[] {
    return ['ip', 'netns', 'exec', `${this.#prefix}-${where}`];
  }

  /** A sends `tree`, B receives it into `out`; both know the server. */
  async meet(
    send: string[] = [],
    receive: string[] = [],
    env: Record<string, string> = {},
  ): Promise<{ sender: Running; receiver: Running }> {
    const sender = await this.start('A', ['send', 'tree', '--json', '--code', CODE, '--rendezvous', SERVER, ...send]);
    await sender.until('rendezvous', ({ state }) => state === 'open');
    const common = ['--yes', '--json', '--out', 'out', '--rendezvous', SERVER];
    return { sender, receiver: await this.start('B', ['receive', CODE, ...common, ...receive], env) };
  }

  #nat(...args: string[]): void {
    run('env', `NAT_PREFIX=${this.#prefix}`, 'bash', NAT, ...args);
  }
}
