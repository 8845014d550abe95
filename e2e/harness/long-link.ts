// SPDX-License-Identifier: MPL-2.0
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { builtTool } from './built-tool.ts';
import { inNamespace } from './lan.ts';
import { run } from './sandbox.ts';

/** Socket buffer limit, above the product of rate and delay of every link in the tests. */
const SOCKET_BYTES = 64 * 2 ** 20;

/** The two ends of a link; A is 10.99.0.1, B 10.99.0.2. */
export type End = 'a' | 'b';

/**
 * A link between two namespaces, emulated by e2e/tools/linkem.cc. Needs root.
 *
 * close() or the end of this process, however it ends, removes the link.
 */
export class LongLink {
  readonly #prefix: string;
  readonly #linkem: ChildProcess;
  readonly #ended: Promise<unknown>;
  #report = '';

  /** @param options  options of linkem: ['--rate', '500', '--delay', '12'] */
  static async open(options: string[]): Promise<LongLink> {
    const linkem = builtTool('linkem');
    const prefix = `kd${process.pid}y${Math.random().toString(36).slice(2, 6)}`;
    const link = new LongLink(linkem, prefix, options);
    try {
      await link.#stands();
      for (const end of ['a', 'b'] as const) link.#raiseLimits(end);
      return link;
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  private constructor(linkem: string, prefix: string, options: string[]) {
    this.#prefix = prefix;
    const namespaces = ['--create', '--a', `${prefix}-a`, '--b', `${prefix}-b`];
    this.#linkem = spawn(linkem, [...namespaces, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#linkem.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#report += text;
    });
    this.#ended = once(this.#linkem, 'close');
    this.#ended.catch(() => {});
  }

  address(end: End): string {
    return end === 'a' ? '10.99.0.1' : '10.99.0.2';
  }

  /** The command that runs another one at one end of the link. */
  at(end: End): string[] {
    return inNamespace(`${this.#prefix}-${end}`);
  }

  /** Starts or ends an outage, during which every packet is dropped. */
  toggleOutage(): void {
    this.#linkem.kill('SIGUSR1');
  }

  /** Removes the link and both namespaces. Resolves to linkem's counters. */
  async close(): Promise<LinkReport | undefined> {
    this.#linkem.kill();
    await this.#ended;
    const line = this.#report.split('\n').find((each) => each.startsWith('{'));
    return line === undefined ? undefined : (JSON.parse(line) as LinkReport);
  }

  async #stands(): Promise<void> {
    if (this.#linkem.stdout === null) throw new Error('linkem has no output');
    for await (const line of createInterface(this.#linkem.stdout)) {
      if (line === 'READY') return;
    }
    throw new Error(`linkem failed: ${this.#report}`);
  }

  #raiseLimits(end: End): void {
    const [command = '', ...rest] = this.at(end);
    const sizes = [`net.ipv4.tcp_rmem=4096 131072 ${SOCKET_BYTES}`, `net.ipv4.tcp_wmem=4096 16384 ${SOCKET_BYTES}`];
    run(command, ...rest, 'sysctl', '-qw', ...sizes);
  }
}

/** Counters for one direction. */
export interface LinkCounters {
  packets: number;
  bytes: number;
  lost: number;
  queueDrops: number;
  outageDrops: number;
  overtook: number;
}

export interface LinkReport {
  cpuSeconds: number;
  ab: LinkCounters;
  ba: LinkCounters;
}
