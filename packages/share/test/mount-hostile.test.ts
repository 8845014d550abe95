// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { type Mount, mount, whyNotMountable } from '@keibidrop/mount';
import type { ShareServer } from '@keibidrop/proto';
import { type Entry, encodePage, MAX_FILE_BYTES, TOP } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shell } from '../../mount/test/outside.ts';
import { GuestSource } from '../src/guest/guest-source.ts';
import { ShareRoom } from './share-room.ts';

const PATIENCE_MS = 1000;
/** Memory limit of the mount host after any hostile message. */
const MOST_RESIDENT = 160 * 2 ** 20;

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

const entry = (name: string, more: Partial<Entry> = {}): Entry =>
  ({ type: 'file', mode: 0o644, parent: TOP, mtimeNs: 0n, size: 1, name, ...more }) as Entry;
const link = (name: string, target: string) => entry(name, { type: 'symlink', size: 0, target } as Partial<Entry>);
const folder = (name: string) => entry(name, { type: 'directory', size: 0, mode: 0o755 });

/** An entry that our own encoder would refuse. */
function named(bad: string): Uint8Array {
  const page = encodePage([entry('x'.repeat(bad.length))]);
  page.set(new TextEncoder().encode(bad), page.length - bad.length);
  return page;
}

describe.skipIf(reason !== undefined)('a mounted share of a hostile peer', () => {
  let room: ShareRoom;
  let shown: Mount | undefined;
  let at: string;

  beforeEach(async () => {
    room = await ShareRoom.open();
    at = room.path('mounted');
  });
  afterEach(async () => {
    await shown?.unmount({ force: true });
    shown = undefined;
    await room.close();
  });

  /** Mounts a share whose directories have the entries of `list`. */
  async function show(list: (path: string) => Uint8Array[], handlers: Partial<ShareServer> = {}): Promise<void> {
    await room.hostileHost({
      list: (call) => {
        for (const entries of list(call.request.path)) call.write({ entries, leftOut: 0 });
        call.end();
      },
      stat: ({ request: { path } }, reply) => {
        const name = path.split('/').at(-1) ?? '';
        reply(null, { entry: encodePage([path === '' ? folder('share') : entry(name)]) });
      },
      watch: (call) => void call.write({ changes: [], lookAgain: false, incomplete: false }),
      ...handlers,
    });
    const guest = await room.connect();
    await mkdir(room.path('cache'));
    shown = await mount({
      source: new GuestSource(guest),
      folder: at,
      cache: room.path('cache'),
      patienceMs: PATIENCE_MS,
      signal: room.signal,
    });
  }

  it.each([
    ['a slash', 'a/b'],
    ['a way up', '..'],
    ['itself', '.'],
    ['a NUL', 'a\0b'],
  ])('refuses a directory whose listing has %s as a name', async (_what, name) => {
    await show(() => [named(name)]);
    expect(await shell('ls -la "$1"', at)).toMatch(/error|invalid|too large|No such/i);
    expect(await shell('ls "$1/../" | head -3', at)).not.toBe('');
  });

  it('leads a symlink only where the system follows it, and nowhere for a circle', async () => {
    await show((path) =>
      path === '' ? [encodePage([link('one', 'two'), link('two', 'one'), link('self', '.')])] : [],
    );
    expect(await shell('cat "$1/one"', at)).toContain('Too many levels of symbolic links');
    expect(await shell('readlink "$1/one" "$1/self"', at)).toBe('two\n.');
    expect(await shell('find "$1" | wc -l', at)).toBe('4');
  });

  it('reads a limited part of an endless directory', async () => {
    const target = 't'.repeat(4000);
    await show(() => [], {
      list: async (call) => {
        for (let i = 0, open = true; open && i < 100_000; i += 60) {
          const entries = encodePage(Array.from({ length: 60 }, (_, j) => link(`${i + j}`, target)));
          open = !call.cancelled;
          if (!call.write({ entries, leftOut: 0 })) await new Promise((resolve) => call.once('drain', resolve));
        }
      },
    });
    expect(await shell('ls "$1" | wc -l', at)).toMatch(/^(failed: .*|0)$/);
    expect(residentOfHost()).toBeLessThan(MOST_RESIDENT);
  });

  it('is no deeper than a path can be', async () => {
    await show(() => [encodePage([folder('d'.repeat(200))])], {
      stat: ({ request: { path } }, reply) =>
        reply(null, { entry: encodePage([folder(path.split('/').at(-1) || 'share')]) }),
    });
    expect(await shell('find "$1" 2>&1 | wc -l', at)).toMatch(/^[0-9]+$/);
    expect(residentOfHost()).toBeLessThan(MOST_RESIDENT);
  });

  it('fails reads of files with impossible sizes, in time, and reserves no space for them', async () => {
    const huge = entry('huge', { size: MAX_FILE_BYTES });
    await show((path) => (path === '' ? [encodePage([huge, entry('none', { size: 5 })])] : []), {
      stat: ({ request: { path } }, reply) =>
        reply(null, {
          entry: encodePage([path === '' ? folder('share') : path === 'huge' ? huge : entry(path, { size: 5 })]),
        }),
    });
    expect(await shell('stat -c %s "$1/huge"', at)).toBe(String(MAX_FILE_BYTES));
    expect(await shell('cat "$1/huge" | head -c 10', at)).toMatch(/error|timed out|too large|^$/i);
    expect(await shell('tail -c 1 "$1/huge"', at)).toMatch(/^failed: .*(error|timed out|too large)/i);
    expect(await shell('cat "$1/none"', at)).toMatch(/^failed: .*(error|timed out)/i);
    expect(residentOfHost()).toBeLessThan(MOST_RESIDENT);
    const blocks = execFileSync('du', ['-sk', room.path('cache')], { encoding: 'utf8' });
    expect(Number.parseInt(blocks, 10)).toBeLessThan(4096);
  });

  it('that changes on every read never yields a mix: the reader must retry, or reads nothing', async () => {
    let looks = 0;
    const moving = () => entry('moving', { size: 1000 + (looks++ % 7), mtimeNs: BigInt(looks) * 1_000_000n });
    await show((path) => (path === '' ? [encodePage([moving()])] : []), {
      stat: ({ request: { path } }, reply) =>
        reply(null, { entry: encodePage([path === '' ? folder('share') : moving()]) }),
      watch: (call) => {
        const change = { changes: [{ kind: 2, path: 'moving' }], lookAgain: false, incomplete: false };
        const timer = setInterval(() => void call.write(change as never), 5);
        call.on('cancelled', () => clearInterval(timer));
      },
    });
    expect(await shell('for i in 1 2 3; do cat "$1/moving"; stat -c %s "$1/moving"; done 2>&1; true', at)).toMatch(
      /error|timed out|stale/i,
    );
    expect(await shell('ls "$1"', at)).not.toContain('hung');
  });

  function residentOfHost(): number {
    const pid = execFileSync('pgrep', ['-f', `keibidrop-mount ${at}`], { encoding: 'utf8' }).trim();
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  }
});
