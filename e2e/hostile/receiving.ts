// SPDX-License-Identifier: MPL-2.0
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, type CommandOptions, type Ending } from './command.ts';
import { CODE, HostileSender } from './hostile-sender.ts';

/** A hostile sender, and a real `keibidrop receive` that has reached it and accepts every offer. */
export class Receiving {
  readonly sender: HostileSender;
  readonly command: Command;
  /** Holds the destination and everything that must stay unchanged. */
  readonly root: string;
  readonly out: string;
  /** Where the command keeps its history; senders do not touch it. */
  readonly #config: string;
  readonly #before: string;

  private constructor(sender: HostileSender, command: Command, root: string, config: string) {
    this.sender = sender;
    this.command = command;
    this.root = root;
    this.out = join(root, 'in');
    this.#config = config;
    this.#before = listing(root, ['in']);
  }

  /**
   * @param options.prepare  fills the destination beforehand
   * @param options.args     arguments of the command, in addition to code, address and destination
   */
  static async begin(
    options: {
      args?: string[];
      prepare?: (out: string) => Promise<void>;
      sender?: Parameters<typeof HostileSender.open>[0];
    } & Partial<CommandOptions> = {},
  ): Promise<Receiving> {
    const { args = ['--json'], prepare, sender: peerService, ...commandOptions } = options;
    const root = await mkdtemp(join(tmpdir(), 'keibidrop-hostile-'));
    await mkdir(join(root, 'outside'));
    await mkdir(join(root, 'in'));
    await writeFile(join(root, 'outside', 'precious'), 'mine');
    await prepare?.(join(root, 'in'));
    const sender = await HostileSender.open(peerService);
    const connect = ['--connect', `127.0.0.1:${sender.port}`, '--out', join(root, 'in')];
    const config = await mkdtemp(join(tmpdir(), 'keibidrop-config-'));
    const env = { KD_CONFIG_DIR: config, ...commandOptions.env };
    const run = { home: root, ...commandOptions, env };
    const command = new Command(['receive', CODE, '--yes', ...connect, ...args], run);
    const receiving = new Receiving(sender, command, root, config);
    const early = command.ended.then(({ stdout, stderr }) =>
      Promise.reject(new Error(`ended early: ${stdout}${stderr}`)),
    );
    await Promise.race([sender.met, early]).catch(async (error) => {
      await receiving.close();
      throw error;
    });
    early.catch(() => {});
    return receiving;
  }

  /** Waits until the command ends and lists what it left behind. */
  async end(): Promise<Ending & { left: string[]; untouched: boolean }> {
    const ending = await this.command.ended;
    return { ...ending, left: names(this.out), untouched: listing(this.root, ['in']) === this.#before };
  }

  async close(): Promise<void> {
    await this.command.kill();
    await this.sender.close();
    for (const made of [this.root, this.#config]) await rm(made, { recursive: true, force: true });
  }
}

/** Every entry below a folder, by path; symlinks are not followed. */
export function names(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? [path, ...names(folder, path)] : [path];
    })
    .sort();
}

/** Every entry below a folder with content, mode and target, as one text. */
function listing(folder: string, except: string[]): string {
  const paths = names(folder).filter((path) => !except.some((name) => path === name || path.startsWith(`${name}/`)));
  return paths.map((path) => describe(join(folder, path), path)).join('\n');
}

function describe(full: string, path: string): string {
  const status = lstatSync(full);
  const content = status.isFile() ? readFileSync(full, 'utf8') : status.isSymbolicLink() ? readlinkSync(full) : '';
  return `${path} ${status.mode.toString(8)} ${content}`;
}
