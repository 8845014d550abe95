// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { afterAll, describe, expect, it } from 'vitest';
import { DIRECTORY, FILE, TOP } from './raw-manifest.ts';
import { Receiving } from './receiving.ts';

const MEBIBYTE = 2 ** 20;
const ENTRIES_A_PAGE = 8000;
const PROMISED = 10_000_000;
const MAX_ENTRIES = 2 ** 22;
const peaks: Record<string, string> = {};

/** A page of entries with seven-digit names, written in place: ten million of them cost this process little. */
function numberedPage(first: number, type: number): Buffer {
  const page = Buffer.alloc(ENTRIES_A_PAGE * 32);
  for (let i = 0; i < ENTRIES_A_PAGE; i++) {
    const at = i * 32;
    page.writeUInt8(type, at);
    page.writeUInt16BE(0o644, at + 1);
    page.writeUInt32BE(TOP, at + 3);
    page.writeBigUInt64BE(type === FILE ? 9n : 0n, at + 15);
    page.writeUInt16BE(7, at + 23);
    page.write(String(first + i).padStart(7, '0'), at + 25, 'latin1');
  }
  return page;
}

afterAll(() => console.log('peak resident memory of the receiver:', peaks));

describe.concurrent('an offer of ten million entries', () => {
  it('is refused when it passes the limit, in bounded memory, with nothing written', async () => {
    const receiving = await Receiving.begin();
    try {
      const { sender, command } = receiving;
      sender.start();
      let over = false;
      void command.ended.then(() => {
        over = true;
      });
      for (let first = 0; first < PROMISED && !over; first += ENTRIES_A_PAGE) {
        const page = { firstEntry: first, count: ENTRIES_A_PAGE, entries: numberedPage(first, FILE) };
        if (!sender.call.write({ body: { $case: 'page', value: page } })) {
          await Promise.race([once(sender.call, 'drain').catch(() => {}), command.ended]);
        }
      }
      const { exit, code, left, untouched, peakRss, events } = await receiving.end();
      peaks['10^7 files, accepted at once'] = `${Math.round(peakRss / MEBIBYTE)} MiB`;
      expect({ exit, code, left, untouched }).toEqual({
        exit: 1,
        code: 'TRANSFER_LIMIT_EXCEEDED',
        left: [],
        untouched: true,
      });
      expect(String(events.at(-1)?.message)).toContain(`Entry ${MAX_ENTRIES}`);
      expect(peakRss).toBeLessThan(1024 * MEBIBYTE);
    } finally {
      await receiving.close();
    }
  });
});

describe.concurrent('huge files', () => {
  it('use no memory until the free disk space is checked', async () => {
    const receiving = await Receiving.begin();
    try {
      const { sender } = receiving;
      // The bitmap of each would take 16 MiB.
      const entries = Array.from({ length: 60 }, (_, i) => ({ name: `f${i}`, size: 2n ** 47n }));
      sender.start();
      sender.page(0, [{ type: DIRECTORY, name: 'd', mode: 0o755 }, ...entries]);
      await sender.hears('answer');
      for (let entry = 1; entry <= 60; entry++) await sender.frame(chunkOf(entry));
      sender.end(61, 60, 60 * 2 ** 47);
      const { exit, left, peakRss, events } = await receiving.end();
      peaks['60 files of 128 TiB'] = `${Math.round(peakRss / MEBIBYTE)} MiB`;
      const codes = new Set(events.filter(({ event }) => event === 'failed').map(({ code }) => code));
      expect({ exit, left, codes: [...codes] }).toEqual({ exit: 1, left: ['d'], codes: ['TRANSFER_DISK_FULL'] });
      expect(peakRss).toBeLessThan(300 * MEBIBYTE);
    } finally {
      await receiving.close();
    }
  });

  it('with too many chunks to count are refused', async () => {
    const receiving = await Receiving.begin();
    try {
      const { sender } = receiving;
      sender.start();
      sender.page(0, [{ name: 'f', size: 2n ** 53n - 1n }]);
      sender.end(1, 1, 2 ** 53 - 1);
      const { exit, code, left } = await receiving.end();
      expect({ exit, code, left }).toEqual({ exit: 1, code: 'TRANSFER_DISK_FULL', left: [] });
    } finally {
      await receiving.close();
    }
  });
});

describe.concurrent('a sender that stops in the middle', () => {
  it('is dropped after three missed heartbeats, and no file is left under its name', async () => {
    const receiving = await Receiving.begin();
    try {
      const { sender } = receiving;
      sender.start();
      sender.page(0, [{ name: 'f', size: 9n }]);
      await sender.hears('answer');
      sender.freeze();
      const { exit, code, left } = await receiving.end();
      expect({ exit, code, left }).toEqual({ exit: 5, code: 'SESSION_LOST', left: [] });
    } finally {
      await receiving.close();
    }
  });
});

/** A full first chunk of an entry. */
function chunkOf(entry: number): Buffer {
  const plaintext = Buffer.alloc(18 + MEBIBYTE);
  plaintext[0] = 1;
  plaintext.writeUInt32BE(entry, 1);
  plaintext.writeUInt32BE(MEBIBYTE, 14);
  return plaintext;
}
