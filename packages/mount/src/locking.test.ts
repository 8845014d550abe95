// SPDX-License-Identifier: MPL-2.0
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { MountedFolder } from '../test/mounted-folder.ts';
import { usableBackend } from './index.ts';

const reason = await usableBackend('native').then(
  () => undefined,
  (failure: Error) => failure.message,
);
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

const PROGRAM = fileURLToPath(new URL('../test/locks.py', import.meta.url));
const REFUSED = 'Resource temporarily unavailable';

/** A program in a process of its own (test/locks.py). */
class Program {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;

  constructor() {
    this.#process = spawn('python3', [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async does(line: string): Promise<string> {
    this.#process.stdin.write(`${line}\n`);
    return (await this.#answers.next()).value ?? 'ended';
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}

describe.skipIf(reason !== undefined)('locks of files that both sides use', { timeout: 120_000 }, () => {
  const here = new MountedFolder('native');
  const programs: Program[] = [];
  const program = () => {
    const made = new Program();
    programs.push(made);
    return made;
  };
  afterEach(async () => {
    await Promise.all(programs.splice(0).map((one) => one.end()));
  });

  /** Two programs in the mount, and one at the source, with one file. */
  async function three() {
    writeFileSync(here.there('file'), 'one');
    await here.show();
    return { near: program(), other: program(), far: program(), at: here.at('file'), there: here.there('file') };
  }

  it('exclude programs on the other side, and each other, as fcntl does', async () => {
    const { near, other, far, at, there } = await three();
    expect(await near.does(`lock a ${at} ex 10 10`)).toBe('ok');
    expect(await far.does(`lock a ${there} ex 15 1`)).toBe(REFUSED);
    expect(await other.does(`lock a ${at} sh 19 5`)).toBe(REFUSED);
    expect(await far.does(`test a ${there} sh 0 100`)).toBe('ex 10 10');
    expect(await far.does(`lock a ${there} sh 20 10`)).toBe('ok');
    expect(await near.does(`test a ${at} ex 0 100`)).toBe('sh 20 10');
    expect(await other.does(`lock a ${at} sh 20 10`)).toBe('ok');
    expect(await near.does(`lock a ${at} ex 25 1`)).toBe(REFUSED);
    expect(await near.does(`lock a ${at} un 12 3`)).toBe('ok');
    expect(await far.does(`lock a ${there} ex 12 3`)).toBe('ok');
    expect(await far.does(`lock a ${there} ex 15 1`)).toBe(REFUSED);
  });

  it('are released when their process first closes the file, or ends', async () => {
    const { near, other, far, at, there } = await three();
    expect(await near.does(`lock a ${at} ex 0 0`)).toBe('ok');
    expect(await near.does(`read b ${at}`)).toBe('one');
    expect(await near.does('close b')).toBe('ok');
    expect(await far.does(`lock a ${there} ex 0 0`)).toBe('ok');
    expect(await far.does(`lock a ${there} un 0 0`)).toBe('ok');
    expect(await other.does(`lock a ${at} ex 0 0`)).toBe('ok');
    expect(await far.does(`lock a ${there} ex 0 0`)).toBe(REFUSED);
    await other.end();
    expect(await far.does(`wait a ${there} ex 0 0`)).toBe('ok');
  });

  it('let a program wait for them', async () => {
    const { near, far, at, there } = await three();
    expect(await far.does(`lock a ${there} ex 0 0`)).toBe('ok');
    const waits = near.does(`wait a ${at} ex 0 0`);
    expect(await far.does(`test a ${there} ex 0 0`)).toBe('free');
    expect(await far.does(`lock a ${there} un 0 0`)).toBe('ok');
    expect(await waits).toBe('ok');
    expect(await far.does(`lock a ${there} sh 0 0`)).toBe(REFUSED);
  });

  it('exclude each other as flock does, and not those of fcntl', async () => {
    const { near, other, far, at, there } = await three();
    expect(await near.does(`flock a ${at} ex`)).toBe('ok');
    expect(await far.does(`flock a ${there} sh`)).toBe(REFUSED);
    expect(await other.does(`flock a ${at} sh`)).toBe(REFUSED);
    expect(await far.does(`lock a ${there} ex 0 0`)).toBe('ok');
    expect(await near.does(`flock a ${at} sh`)).toBe('ok');
    expect(await far.does(`flock a ${there} sh`)).toBe('ok');
    expect(await near.does('close a')).toBe('ok');
    await expect.poll(() => far.does(`flock a ${there} ex`)).toBe('ok');
  });

  it('show bytes written under the previous lock, even to a file that was already open', async () => {
    const { near, far, at, there } = await three();
    for (let turn = 0; turn < 20; turn++) {
      expect(await near.does(`wait a ${at} ex 0 1`)).toBe('ok');
      expect(await near.does(`read a ${at}`)).toBe(turn === 0 ? 'one' : `f${turn - 1}`.padEnd(3, 'x').slice(0, 3));
      expect(await near.does(`write a ${at} ${`n${turn}`.padEnd(3, 'y').slice(0, 3)}`)).toBe('ok');
      expect(await near.does(`lock a ${at} un 0 1`)).toBe('ok');
      expect(await far.does(`wait a ${there} ex 0 1`)).toBe('ok');
      expect(await far.does(`read a ${there}`)).toBe(`n${turn}`.padEnd(3, 'y').slice(0, 3));
      expect(await far.does(`write a ${there} ${`f${turn}`.padEnd(3, 'x').slice(0, 3)}`)).toBe('ok');
      expect(await far.does(`lock a ${there} un 0 1`)).toBe('ok');
    }
  });

  it('allow puts of the holder, and refuse all others', async () => {
    const { near, far, at, there } = await three();
    expect(await near.does(`lock a ${at} ex 0 1`)).toBe('ok');
    expect(await near.does(`write a ${at} two`)).toBe('ok');
    expect(await near.does(`lock a ${at} un 0 1`)).toBe('ok');
    expect(readFileSync(there, 'utf8')).toBe('two');
    expect(await far.does(`lock a ${there} sh 5 1`)).toBe('ok');
    expect(await near.does(`write a ${at} six`)).toBe('ok');
    const closes = near.does('close a');
    await expect.poll(() => here.source.puts.length).toBeGreaterThan(1);
    expect(readFileSync(there, 'utf8')).toBe('two');
    expect(await far.does('close a')).toBe('ok');
    expect(await closes).toBe('ok');
  });

  it('that were lost fail reads and writes that rely on them, until they are released', async () => {
    const { near, far, at, there } = await three();
    expect(await near.does(`lock a ${at} ex 0 1`)).toBe('ok');
    here.source.loseLocks();
    await expect.poll(() => near.does(`write a ${at} two`)).toBe('Input/output error');
    expect(await near.does(`lock a ${at} ex 5 1`)).toBe('Input/output error');
    expect(await near.does(`lock a ${at} un 0 0`)).toBe('ok');
    expect(await near.does(`lock a ${at} ex 5 1`)).toBe('ok');
    expect(await near.does(`write a ${at} two`)).toBe('ok');
    expect(await far.does(`lock a ${there} ex 5 1`)).toBe(REFUSED);
  });
});
