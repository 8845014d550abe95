// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Running } from '../harness/running.ts';
import { CODE, run, Sandbox } from '../harness/sandbox.ts';
import { PROGRAM } from '../hostile/command.ts';
import { elsewhere } from './away.ts';

const NAT = fileURLToPath(new URL('../tools/nat.sh', import.meta.url));

/**
 * `cone`: like a home router, with the same port for all destinations; `sym`: a different port for each destination.
 */
export type NatType = 'cone' | 'sym';
/** The places of e2e/tools/nat.sh: two peers, each with a router, and the server between them. */
export type Place = 'A' | 'natA' | 'B' | 'natB' | 'pub';

/** The address of the test server, and a second address of it. */
export const SERVER = '203.0.113.1:26431';
export const SECOND_SERVER = '203.0.113.2:26431';
export const HAS_NFT = spawnSync('nft', ['--version']).status === 0;

export const HAS_MINIUPNPD = spawnSync('miniupnpd', ['--version']).error === undefined;
/**
 * Outside address of A's router while it maps ports: miniupnpd refuses documentation addresses like those of nat.sh.
 */
export const MAPPED_HOST = '203.0.114.10';

const MINIUPNPD = `
ext_ifname=wan
ext_ip=${MAPPED_HOST}
listening_ip=lan
http_port=0
secure_mode=yes
uuid=00000000-0000-4000-8000-000000000001
upnp_table_name=mappings
upnp_nat_table_name=mappings
upnp_forward_chain=miniupnpd
upnp_nat_chain=prerouting_miniupnpd
upnp_nat_postrouting_chain=postrouting_miniupnpd
allow 1024-65535 192.168.10.0/24 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
`;

const MAPPING_TABLE = `
table inet mappings {
  chain miniupnpd {}
  chain prerouting_miniupnpd {}
  chain postrouting_miniupnpd {}
  chain forward { type filter hook forward priority 0; jump miniupnpd; }
  chain prerouting { type nat hook prerouting priority -100; jump prerouting_miniupnpd; }
}
add rule ip filter cforward ct status dnat accept
`;

/** Two peers behind separate NATs, A that sends and B that receives, and a server that both reach. Needs root. */
export class NatWorld {
  readonly room: Sandbox;
  #server: Running | undefined;
  readonly #prefix = `kd${process.pid}n${Math.random().toString(36).slice(2, 5)}`;

  /** Builds the network and starts the server. */
  static async open(a: NatType, b: NatType): Promise<NatWorld> {
    const world = new NatWorld(await Sandbox.open());
    world.#nat('up', a, b);
    world.#server = await world.start('pub', ['relay', '--listen', '0.0.0.0:26431', '--json']);
    await world.#server.until('listening');
    return world;
  }

  private constructor(room: Sandbox) {
    this.room = room;
  }

  async close(): Promise<void> {
    await this.room.close();
    this.#nat('down');
  }

  /** Runs the program in a namespace. B has its own runtime directory, so that the local registry does not help. */
  async start(where: Place, args: string[], env: Record<string, string> = {}): Promise<Running> {
    const command = [...this.in(where), process.execPath, PROGRAM];
    const away = where === 'B' ? (await elsewhere(this.room)).env : {};
    return this.room.start(args, { command, env: { ...away, ...env } });
  }

  /** The command that runs another one in a namespace. */
  in(where: Place): string[] {
    return ['ip', 'netns', 'exec', `${this.#prefix}-${where}`];
  }

  /** A sends `tree`, B receives it into `out`; both use the server. */
  async meet(
    send: string[] = [],
    receive: string[] = [],
    env: Record<string, string> = {},
  ): Promise<{ sender: Running; receiver: Running }> {
    return { sender: await this.send(send), receiver: await this.receive(receive, env) };
  }

  async send(args: string[] = []): Promise<Running> {
    const sender = await this.start('A', ['send', 'tree', '--json', '--code', CODE, '--rendezvous', SERVER, ...args]);
    await sender.until('rendezvous', ({ state }) => state === 'open');
    return sender;
  }

  receive(args: string[] = [], env: Record<string, string> = {}): Promise<Running> {
    return this.start('B', ['receive', CODE, '--yes', '--json', '--out', 'out', '--rendezvous', SERVER, ...args], env);
  }

  /**
   * Lets A's router map ports for A by UPnP, NAT-PMP and PCP, as miniupnpd does, with an outside address that counts as
   * public.
   */
  async serveMappings(served: readonly ('natpmp' | 'upnp')[]): Promise<void> {
    const flags = (['natpmp', 'upnp'] as const).map((each) => `enable_${each}=${served.includes(each) ? 'yes' : 'no'}`);
    const pid = this.room.path('miniupnpd.pid');
    await writeFile(
      this.room.path('miniupnpd.conf'),
      [MINIUPNPD, `lease_file=${this.room.path('leases')}`, ...flags, ''].join('\n'),
    );
    await writeFile(this.room.path('mappings.nft'), MAPPING_TABLE);
    this.inside('natA', 'nft', '-f', this.room.path('mappings.nft'));
    this.inside('natA', 'ip', 'address', 'add', `${MAPPED_HOST}/32`, 'dev', 'wan');
    for (const place of ['natB', 'pub'] as const) {
      this.inside(place, 'ip', 'route', 'add', MAPPED_HOST, 'via', '203.0.113.10');
    }
    const args = ['-d', '-f', this.room.path('miniupnpd.conf'), '-P', pid];
    const daemon = await this.room.start(args, { command: [...this.in('natA'), 'miniupnpd'] });
    await daemon.shows(/HTTP listening on port/);
  }

  /** The port mappings of A's router, as nft shows them. */
  mappings(): string {
    return this.inside('natA', 'nft', 'list', 'chain', 'inet', 'mappings', 'prerouting_miniupnpd');
  }

  /** Kills the server without warning. */
  killServer(): void {
    this.#server?.kill();
  }

  /** Bytes that the relay has forwarded, from the server's metrics. */
  relayedBytes(): number {
    const ask = `fetch('http://${SERVER}/metrics').then((answer) => answer.text()).then(console.log)`;
    const metrics = this.inside('pub', process.execPath, '-e', ask);
    return Number(/^keibidrop_relay_bytes_total (\d+)$/m.exec(metrics)?.[1]);
  }

  /** Runs a command in a namespace and returns its output. */
  inside(where: Place, ...command: string[]): string {
    return run('ip', 'netns', 'exec', `${this.#prefix}-${where}`, ...command);
  }

  #nat(...args: string[]): void {
    run('env', `NAT_PREFIX=${this.#prefix}`, 'bash', NAT, ...args);
  }
}
