// SPDX-License-Identifier: MPL-2.0
import { chown, mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect } from 'vitest';
import type { Running } from '../harness/running.ts';
import { LISTEN, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { type RelayServer, startRelay } from '../reach/away.ts';
import { isMounted, mountHostOf } from './processes.ts';
import { shellIn } from './shell.ts';

export interface MountedShareOptions {
  /** How long calls wait for a missing peer, as KD_MOUNT_PATIENCE_MS. */
  patienceMs?: number;
  /** How the daemons meet: on this machine, through a new relay, or at an address of the sharing daemon. */
  by?: 'loopback' | 'relay' | { address: string };
  sharing?: StartOptions;
  mounting?: StartOptions;
  /** More arguments for `mount`. */
  words?: string[];
}

/** The folder `work` of one daemon, which another mounts as `far`. Daemons of different users have separate homes. */
export class MountedShare {
  readonly sandbox: Sandbox;
  readonly patienceMs: number;
  readonly sharing: OwnDaemon;
  readonly mounting: OwnDaemon;
  readonly work: string;
  readonly far: string;
  code = '';
  #relay: RelayServer | undefined;
  #words: string[];

  static async open(options: MountedShareOptions = {}): Promise<MountedShare> {
    const sandbox = await Sandbox.open();
    try {
      const { patienceMs = 2000, by = 'loopback', sharing = {}, mounting = {}, words = [] } = options;
      const env = { KD_PATIENCE: '10m', KD_MOUNT_PATIENCE_MS: `${patienceMs}` };
      const daemon = async (name: string, { uid, ...rest }: StartOptions) => {
        await mkdir(sandbox.path(name));
        if (uid !== undefined) await chown(sandbox.path(name), uid, uid);
        const as = uid === undefined ? {} : { uid };
        return OwnDaemon.start(sandbox, `${name}/config`, { ...rest, ...as, env: { ...env, ...rest.env } });
      };
      const daemons = await Promise.all([daemon('anna', sharing), daemon('bob', mounting)]);
      const share = new MountedShare(sandbox, patienceMs, daemons, words);
      await share.#meet(by);
      return share;
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }

  private constructor(sandbox: Sandbox, patienceMs: number, daemons: [OwnDaemon, OwnDaemon], words: string[]) {
    this.sandbox = sandbox;
    this.patienceMs = patienceMs;
    [this.sharing, this.mounting] = daemons;
    this.#words = words;
    this.work = sandbox.path('anna', 'work');
    this.far = sandbox.path('bob', 'far');
  }

  async #meet(by: MountedShareOptions['by']): Promise<void> {
    await mkdir(this.work);
    if (by === 'relay') this.#relay = await startRelay(this.sandbox);
    const reach = this.#relay === undefined ? [] : ['--rendezvous', this.#relay.address, '--relay-only'];
    const place = typeof by === 'object' ? by.address : undefined;
    const listen = place === undefined ? LISTEN : ['--listen', place];
    const { exit, event } = await this.sharing.command('add', this.work, ...listen, ...reach);
    if (exit !== 0) throw new Error(`add: ${JSON.stringify(event)}`);
    this.code = event.code as string;
    this.#words = [...this.#words, ...reach, ...(place === undefined ? [] : ['--connect', place])];
    await this.mount();
  }

  get relay(): Running {
    if (this.#relay === undefined) throw new Error('there is no relay');
    return this.#relay.server;
  }

  /** Starts a new relay at the same port. */
  async replaceRelay(): Promise<void> {
    this.#relay = await startRelay(this.sandbox, this.#relay?.port);
  }

  /** The process id of the mount host. */
  get host(): number | undefined {
    return mountHostOf(this.mounting.running.pid);
  }

  /** Waits until a process other than `than` serves the folder. */
  async hasOtherHost(than: number | undefined): Promise<void> {
    await expect.poll(() => this.host).toSatisfy((now) => now !== undefined && now !== than);
  }

  get isMounted(): boolean {
    return isMounted(this.far);
  }

  /** Waits until a file in the mount equals the one on the sharing side. */
  async shows(name: string): Promise<void> {
    expect(await this.shell(`until cmp -s bob/far/${name} anna/work/${name}; do sleep 0.02; done`)).toBe('');
  }

  /** Mounts by command, as a person does. */
  async mount(): Promise<void> {
    const { exit, event } = await this.mounting.command('mount', this.code, this.far, ...this.#words);
    if (exit !== 0) throw new Error(`mount: ${JSON.stringify(event)}\n${this.mounting.running.stderr}`);
  }

  /** The output of a shell line in the sandbox, or the reason why it failed. */
  shell(line: string, seconds?: number): Promise<string> {
    return shellIn(this.sandbox, line, seconds);
  }

  /**
   * Starts a test program with the mounted folder as its current directory.
   * It stays in this mount even after the mount has ended.
   */
  start(program: string, args: string[], options: StartOptions = {}): Promise<Running> {
    const command = ['sh', '-c', 'cd "$0" && exec "$@"', this.far, process.execPath, program];
    return this.sandbox.start([...args, '--json'], { ...options, command });
  }

  async close(): Promise<void> {
    await this.mounting.command('unmount', this.far, '--force').catch(() => {});
    await this.mounting.command('stop').catch(() => {});
    await this.sandbox.close();
    if (this.isMounted) throw new Error(`${basename(this.far)} is still mounted`);
  }
}
