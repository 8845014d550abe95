// SPDX-License-Identifier: MPL-2.0
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, type TestContext } from 'vitest';
import type { JsonEvent, Running } from '../harness/running.ts';
import type { StartOptions } from '../harness/sandbox.ts';
import { numberOf, recordOf } from './known-bytes.mjs';
import type { MountedShare } from './mounted-share.ts';
import { StuckWatch } from './processes.ts';

const FILES = 6;
const RECORD = 65_536;
/** Until they go on, or are refused. */
const LONGEST_MS = 240_000;
const AGAIN_MS = 20;
/** Of timers, of two processors for everything, and of a program that does two things in a row. */
const SLACK_MS = 3000;
/** Of one call, beside its patience: a machine with more to do than it can. */
const BUSY_MS = 2000;

const programAt = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** How often each thing was told, and the longest that a program had to wait for one call. */
export interface Told {
  kept: number;
  right: number;
  refused: Record<string, number>;
  longestMs: number;
}

/** One program that writes records with fsync in a mount, and one that reads there; what they are told is held against the truth. */
export class TwoPrograms {
  readonly #share: MountedShare;
  readonly #writer: Running;
  readonly #reader: Running;
  readonly #stuck: StuckWatch;

  /** @param records  of 64 KiB, in each of the files to be read: more than a cache holds, so that the other side has to be asked */
  static async start(share: MountedShare, { records = 320, as = {} }: { records?: number; as?: StartOptions } = {}) {
    for (let file = 0; file < FILES; file++) {
      const all = Array.from({ length: records }, (_, i) => recordOf(file * records + i, RECORD));
      writeFileSync(join(share.work, `known-${file}`), Buffer.concat(all));
    }
    const both = await Promise.all([
      share.start(programAt('write-records.mjs'), [], as),
      share.start(programAt('read-known.mjs'), [`${FILES}`, `${records}`], as),
    ]);
    const programs = new TwoPrograms(share, both);
    await programs.goOn();
    return programs;
  }

  private constructor(share: MountedShare, [writer, reader]: [Running, Running]) {
    this.#share = share;
    this.#writer = writer;
    this.#reader = reader;
    const own = [writer.pid, reader.pid];
    this.#stuck = new StuckWatch(() => [...own, share.mounting.running.pid, share.host ?? 0]);
  }

  get told(): Told {
    const all = [...this.#writer.events(), ...this.#reader.events()];
    const refused: Record<string, number> = {};
    for (const { event, code } of all) {
      if (event === 'refused') refused[`${code}`] = (refused[`${code}`] ?? 0) + 1;
    }
    return {
      kept: all.filter(({ event }) => event === 'kept').length,
      right: (this.#reader.events().findLast(({ event }) => event === 'right')?.right as number) ?? 0,
      refused,
      longestMs: Math.max(0, ...all.map(({ ms }) => (ms as number) ?? 0)),
    };
  }

  /** Until both have got some further. @returns  the milliseconds it took */
  goOn(): Promise<number> {
    const before = this.told;
    return this.#until('go on', ({ kept, right }) => kept >= before.kept + 20 && right >= before.right + 200);
  }

  /** Until one of them is refused something; nothing that was acknowledged is lost by then. @returns  the milliseconds it took */
  async noticed(): Promise<number> {
    const before = sumOf(this.told.refused);
    const noticedMs = await this.#until('are refused something', ({ refused }) => sumOf(refused) > before);
    this.check();
    return noticedMs;
  }

  async #until(what: string, reached: (told: Told) => boolean): Promise<number> {
    const began = performance.now();
    while (!reached(this.told)) {
      if (performance.now() - began > LONGEST_MS) {
        const { mounting, sharing } = this.#share;
        const said = [
          JSON.stringify(this.told),
          ...[this.#writer, this.#reader, mounting.running, sharing.running].map(({ stderr }) => stderr),
        ].join('\n');
        throw new Error(`after ${LONGEST_MS} ms the programs do not ${what}: ${said}`);
      }
      await sleep(AGAIN_MS);
    }
    return performance.now() - began;
  }

  /**
   * Ends them, and holds what was acknowledged against what stands at the sharing side now. No call took longer than it waits for twice.
   * What they were told is in the figures of the step, with `more`.
   */
  async end({ task }: TestContext, more: object = {}): Promise<void> {
    for (const program of [this.#writer, this.#reader]) program.kill();
    const ended = Promise.all([this.#writer.ended, this.#reader.ended]).then(() => true);
    expect(await Promise.race([ended, sleep(SLACK_MS, false)]), 'a process is not to be killed').toBe(true);
    const longestStuckMs = await this.#stuck.end();
    this.check();
    const copies = readdirSync(this.#share.work).filter((name) => name.includes('(conflict')).length;
    const { refused, ...told } = this.told;
    Object.assign(task.meta, { figures: { ...told, longestStuckMs, copies, ...refused, ...more } });
    const longest = 2 * this.#share.patienceMs + BUSY_MS;
    expect(told.longestMs).toBeLessThan(longest);
    expect(longestStuckMs).toBeLessThan(longest);
  }

  /** That nothing that fsync has acknowledged is missing at the sharing side, where a file may be kept twice, and nothing wrong was read. */
  check(): void {
    expect(this.#reader.events().filter(({ event }) => event === 'wrong')).toEqual([]);
    const kept = this.#writer.events().filter(({ event }) => event === 'kept');
    const names = readdirSync(this.#share.work);
    const copies = (way: string) =>
      names
        .filter((name) => name === way || name.startsWith(`${way} (conflict`))
        .map((name) => readFileSync(join(this.#share.work, name)));
    const standing = { log: copies('log'), block: copies('block'), state: copies('state') };
    const lost = kept.filter((record) => !standing[record.way as Way].some((bytes) => stands(record, bytes)));
    expect(lost, 'acknowledged, and not there').toEqual([]);
  }
}

type Way = 'log' | 'block' | 'state';

/** Whether a record, or a later one in its place, stands in these bytes. */
function stands({ way, at, number }: JsonEvent, bytes: Buffer): boolean {
  const wanted = number as number;
  const place = at as number;
  const found = way === 'state' ? numberOf(bytes) : numberOf(bytes.subarray(place * 4096, (place + 1) * 4096));
  return way === 'log' ? found === wanted : (found ?? 0) >= wanted;
}

function sumOf(refused: Record<string, number>): number {
  return Object.values(refused).reduce((all, one) => all + one, 0);
}
