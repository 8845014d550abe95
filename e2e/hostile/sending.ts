// SPDX-License-Identifier: MPL-2.0
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, type Ending } from './command.ts';
import { HostileReceiver } from './hostile-receiver.ts';

const CODE = '7-guitar-pencil';
const SMALL = 'content of the small file';
const CHUNK = 2 ** 20;

/**
 * The real `keibidrop send` of a folder with a small file, a large file and a folder, and its receivers.
 * Entry 0 is the outer folder; entries 1 to 3 are in it, in the order of the walk.
 */
export class Sending {
  readonly command: Command;
  readonly port: number;
  readonly root: string;
  readonly #receivers: HostileReceiver[] = [];

  private constructor(command: Command, port: number, root: string) {
    this.command = command;
    this.port = port;
    this.root = root;
  }

  static async begin(args: string[] = [], files = 0): Promise<Sending> {
    const root = await mkdtemp(join(tmpdir(), 'keibidrop-hostile-'));
    const folder = join(root, 'folder');
    await mkdir(join(folder, 'inner'), { recursive: true });
    await writeFile(join(folder, 'small'), SMALL);
    await writeFile(join(folder, 'large'), Buffer.alloc(2 * CHUNK + 5, 7));
    for (let i = 0; i < files; i++) await writeFile(join(folder, `file-${i}`), `${i}`);
    const argv = ['send', folder, '--json', '--code', CODE, '--listen', '127.0.0.1:0', ...args];
    const command = new Command(argv, { home: root });
    const { port } = await command.shows('waiting');
    return new Sending(command, Number(port), root);
  }

  async hostile(options: { lanes?: Socket[] } = {}): Promise<HostileReceiver> {
    const receiver = await HostileReceiver.reach(this.port, CODE, options);
    this.#receivers.push(receiver);
    return receiver;
  }

  /** Lets another receiver prove the code; the result shakes hands for it. */
  async meets(): Promise<() => Promise<HostileReceiver>> {
    const meeting = await HostileReceiver.meet(this.port, CODE);
    return async () => {
      const receiver = await HostileReceiver.shakeHands(this.port, meeting);
      this.#receivers.push(receiver);
      return receiver;
    };
  }

  /** An honest receiver gets everything; `then` runs right after it. Resolves with how both commands ended. */
  async servesAnHonestOne(then = async () => {}): Promise<{ receiver: Ending; sender: Ending; whole: boolean }> {
    const out = join(this.root, 'in');
    const connect = ['--connect', `127.0.0.1:${this.port}`];
    const honest = new Command(['receive', CODE, '--yes', '--json', '--out', out, ...connect], { home: this.root });
    const receiver = await honest.ended;
    await then();
    // A sender whose receiver failed waits for the next one.
    if (receiver.exit !== 0) await this.command.kill();
    const sender = await this.command.ended;
    const small = await readFile(join(out, 'folder', 'small'), 'utf8').catch(() => '');
    const large = await readFile(join(out, 'folder', 'large')).catch(() => Buffer.alloc(0));
    return { receiver, sender, whole: small === SMALL && large.equals(Buffer.alloc(2 * CHUNK + 5, 7)) };
  }

  async close(): Promise<void> {
    for (const receiver of this.#receivers) receiver.close();
    await this.command.kill();
    await rm(this.root, { recursive: true, force: true });
  }
}
