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
/** Longest wait for the programs to continue or to be refused. */
const LONGEST_MS = 240_000;
const AGAIN_MS = 20;
/** For timers, for two processors that do everything, and for a program that makes two calls in a row. */
const SLACK_MS = 3000;
/** For one call beyond its patience, on an overloaded machine. */
const BUSY_MS = 10_000;

const programAt = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** How often each outcome was reported, and the longest wait of a program for one call. */
export interface Counts {
  kept: number;
  right: number;
  refused: Record<string, number>;
  longestMs: number;
}

/**
 * A program that writes records with fsync in a mount, and one that reads there. Their reports are checked against the
 * files.
 */
export class TwoPrograms {
  readonly #share: MountedShare;
  readonly #writer: Running;
  readonly #reader: Running;
  readonly #stuck: StuckWatch;

  /**
   * @param records  64 KiB records in each file to read; more than the cache holds, so that reads reach the sharing
   * side
   */
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

  get counts(): Counts {
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

  /** Waits until both programs have progressed. @returns  the milliseconds it took */
  goOn(): Promise<number> {
    const before = this.counts;
    return this.#until('continue', ({ kept, right }) => kept >= before.kept + 20 && right >= before.right + 200);
  }

  /**
   * Waits until a call is refused, and checks that no acknowledged record is lost. @returns  the milliseconds it took
   */
  async noticed(): Promise<number> {
    const before = sumOf(this.counts.refused);
    const noticedMs = await this.#until('are refused something', ({ refused }) => sumOf(refused) > before);
    this.check();
    return noticedMs;
  }

  async #until(what: string, reached: (counts: Counts) => boolean): Promise<number> {
    const began = performance.now();
    while (!reached(this.counts)) {
      if (performance.now() - began > LONGEST_MS) {
        const { mounting, sharing } = this.#share;
        const said = [
          JSON.stringify(this.counts),
          ...[this.#writer, this.#reader, mounting.running, sharing.running].map(({ stderr }) => stderr),
        ].join('\n');
        throw new Error(`after ${LONGEST_MS} ms the programs do not ${what}: ${said}`);
      }
      await sleep(AGAIN_MS);
    }
    return performance.now() - began;
  }

  /**
   * Ends both programs and checks acknowledged records against the files of the sharing side.
   * No call may take longer than twice its patience. Adds the reports and `more` to the figures of the step.
   */
  async end({ task }: TestContext, more: object = {}): Promise<void> {
    for (const program of [this.#writer, this.#reader]) program.kill();
    const ended = Promise.all([this.#writer.ended, this.#reader.ended]).then(() => true);
    expect(await Promise.race([ended, sleep(SLACK_MS, false)]), 'a process cannot be killed').toBe(true);
    const longestStuckMs = await this.#stuck.end();
    this.check();
    const copies = readdirSync(this.#share.work).filter((name) => name.includes('(conflict')).length;
    const { refused, ...counts } = this.counts;
    Object.assign(task.meta, { figures: { ...counts, longestStuckMs, copies, ...refused, ...more } });
    const longest = 2 * this.#share.patienceMs + BUSY_MS;
    expect(counts.longestMs).toBeLessThan(longest);
    expect(longestStuckMs).toBeLessThan(longest);
  }

  /** Expects every fsynced record on the sharing side, where a file may have a conflict copy, and no wrong reads. */
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

/** Whether these bytes hold a record, or a later one in its place. */
function stands({ way, at, number }: JsonEvent, bytes: Buffer): boolean {
  const wanted = number as number;
  const place = at as number;
  const found = way === 'state' ? numberOf(bytes) : numberOf(bytes.subarray(place * 4096, (place + 1) * 4096));
  return way === 'log' ? found === wanted : (found ?? 0) >= wanted;
}

function sumOf(refused: Record<string, number>): number {
  return Object.values(refused).reduce((all, one) => all + one, 0);
}
