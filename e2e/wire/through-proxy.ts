// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, type Ending } from '../hostile/command.ts';
import { names } from '../hostile/receiving.ts';
import { type Attack, ManInTheMiddle } from './man-in-the-middle.ts';

export const CODE = '7-guitar-pencil';
export const FILE_NAME = 'a-name-nobody-should-read.txt';
export const CONTENT = 'a-content-nobody-should-read ';

/** How both commands ended, and the files under final names. */
export interface Outcome {
  receiver: Ending;
  sender: Ending;
  placed: string[];
  proxy: ManInTheMiddle;
}

export interface ThroughOptions {
  attack?: Attack;
  env?: Record<string, string>;
  args?: string[];
  largeBytes?: number;
  /** The attack hits after the session is up, so the sender reports a lost receiver. */
  awaitLost?: boolean;
}

/**
 * Runs the real commands with a man in the middle of all connections between them.
 *
 * The offer is one small file with a recognisable name and one of three chunks.
 */
export async function transferThroughProxy(options: ThroughOptions = {}): Promise<Outcome> {
  const { attack, env = {}, args = [], largeBytes = 3 * 2 ** 20, awaitLost = false } = options;
  const root = await mkdtemp(join(tmpdir(), 'keibidrop-wire-'));
  await mkdir(join(root, 'offer'));
  await writeFile(join(root, 'offer', FILE_NAME), CONTENT.repeat(20));
  await writeFile(join(root, 'offer', 'large'), randomBytes(largeBytes));
  const listen = ['--json', '--code', CODE, '--listen', '127.0.0.1:0'];
  const sender = new Command(['send', join(root, 'offer'), ...listen, ...args], { home: root, env });
  let proxy: ManInTheMiddle | undefined;
  let receiver: Command | undefined;
  try {
    const { port } = await sender.shows('waiting');
    proxy = await ManInTheMiddle.open(Number(port), attack);
    const connect = ['--connect', `127.0.0.1:${proxy.port}`, '--out', join(root, 'in')];
    receiver = new Command(['receive', CODE, '--yes', '--json', ...connect, ...args], { home: root, env });
    const received = await receiver.ended;
    if (received.exit !== 0) {
      if (awaitLost) await sender.shows('receiverLost');
      // A sender that lost its receiver waits for the next one.
      await sender.kill();
    }
    const sent = await sender.ended;
    return { receiver: received, sender: sent, placed: placedIn(join(root, 'in')), proxy };
  } finally {
    await receiver?.kill();
    await sender.kill();
    await proxy?.close();
    await rm(root, { recursive: true, force: true });
  }
}

/** Files and folders under their final names. */
function placedIn(out: string): string[] {
  try {
    return names(out).filter((name) => !name.startsWith('.keibidrop-partial'));
  } catch {
    return [];
  }
}
