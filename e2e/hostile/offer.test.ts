// SPDX-License-Identifier: MPL-2.0
import { readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonEvent } from './command.ts';
import type { HostileSender } from './hostile-sender.ts';
import { DIRECTORY, type RawEntry, SYMLINK, TOP } from './raw-manifest.ts';
import { Receiving } from './receiving.ts';

type Options = Parameters<typeof Receiving.begin>[0];

/** Runs `lie` on a sender whose receiver accepts. Resolves with how the receiver ended. */
async function lied(lie: (sender: HostileSender) => unknown, options?: Options) {
  const receiving = await Receiving.begin(options);
  try {
    await lie(receiving.sender);
    return await receiving.end();
  } finally {
    await receiving.close();
  }
}

/** The code of the first entry that failed. */
function failedCode(events: JsonEvent[]): unknown {
  return events.find(({ event }) => event === 'failed')?.code;
}

const MALFORMED = { exit: 3, code: 'HANDSHAKE_MALFORMED' };
const LIMIT = { exit: 1, code: 'TRANSFER_LIMIT_EXCEEDED' };
const entries = (count: number): RawEntry[] => Array.from({ length: count }, (_, i) => ({ name: `f${i}`, size: 9n }));
const bigPage = Array.from({ length: 1024 }, (_, i) => ({ name: String(i).padStart(255, 'x') }));

/** Forbidden messages of a sender, and how the receiver's command ends. No lie may leave a file behind. */
const lies: [what: string, expected: { exit: number; code: string }, lie: (sender: HostileSender) => unknown][] = [
  ['a page that counts more entries than it has', MALFORMED, (s) => s.start().page(0, entries(2), 3)],
  ['a page that counts fewer entries than it has', MALFORMED, (s) => s.start().page(0, entries(2), 1)],
  ['an empty page', MALFORMED, (s) => s.start().page(0, [])],
  ['a page that leaves numbers out', MALFORMED, (s) => s.start().page(1, entries(1))],
  ['a page sent twice', MALFORMED, (s) => s.start().page(0, entries(1)).page(0, entries(1))],
  ['a page over 256 KiB', LIMIT, (s) => s.start().page(0, bigPage)],
  ['a page before the offer', MALFORMED, (s) => s.page(0, entries(1))],
  ['an end before the offer', MALFORMED, (s) => s.end(0, 0, 0)],
  [
    'a page after the end',
    MALFORMED,
    (s) =>
      s
        .start()
        .page(0, entries(1))
        .end(1, 1, 9)
        .page(1, [{ name: 'z' }]),
  ],
  ['two ends', MALFORMED, (s) => s.start().page(0, entries(1)).end(1, 1, 9).end(1, 1, 9)],
  ['an end that counts other entries', MALFORMED, (s) => s.start().page(0, entries(1)).end(2, 1, 9)],
  ['an end that counts other files', MALFORMED, (s) => s.start().page(0, entries(1)).end(1, 7, 9)],
  ['an end that counts other bytes', MALFORMED, (s) => s.start().page(0, entries(1)).end(1, 1, 10)],
  ['two offers', MALFORMED, (s) => s.start().start()],
  ['files and then a text', MALFORMED, (s) => s.start().page(0, entries(1)).start('mallory', 'text')],
  ['that it has finished before the end', MALFORMED, (s) => s.start().say({ $case: 'finished', value: {} })],
  ['a failure of an unknown entry', MALFORMED, (s) => fail(s.start().page(0, entries(1)), 5)],
  ['a failure before the offer', MALFORMED, (s) => fail(s, TOP)],
  ['a text over 1 MiB', LIMIT, (s) => s.start('mallory', 'x'.repeat(2 ** 20 + 1))],
  ['a label over 128 bytes', LIMIT, (s) => s.start('ä'.repeat(65))],
];

function fail(sender: HostileSender, entry: number): void {
  sender.say({ $case: 'failed', value: { entry, code: 'TRANSFER_SOURCE_CHANGED', path: 'x' } });
}

describe('a sender that says', () => {
  it.concurrent.each(lies)('%s is refused', async (_what, expected, lie) => {
    const { exit, code, left, untouched, stderr } = await lied(lie);
    expect({ exit, code, left, untouched, stderr }).toEqual({ ...expected, left: [], untouched: true, stderr: '' });
  });

  it.concurrent('a message larger than gRPC accepts is cut off', async () => {
    const { exit, code, left } = await lied((sender) => sender.start('mallory', 'x'.repeat(3 * 2 ** 20)));
    expect({ exit, code, left }).toEqual({ exit: 5, code: 'SESSION_LOST', left: [] });
  });

  it.concurrent('nothing after the offer, and ends the call, loses the session', async () => {
    const { exit, code, left } = await lied((sender) => {
      sender.start();
      sender.page(0, entries(1));
      sender.call.end();
    });
    expect({ exit, code, left }).toEqual({ exit: 5, code: 'SESSION_LOST', left: [] });
  });

  it.concurrent('an unknown error code is reported as PEER_FAILED', async () => {
    const { exit, code, events } = await lied(async (sender) => {
      sender.start();
      sender.page(0, entries(1));
      sender.say({ $case: 'failed', value: { entry: 0, code: 'rm -rf /', path: 'f0' } });
      sender.end(1, 1, 9);
    });
    expect({ exit, code, failed: failedCode(events) }).toEqual({ exit: 1, code: 'PEER_FAILED', failed: 'PEER_FAILED' });
  });
});

describe('text shown to people', () => {
  const escapes = '\u001b]0;pwned\u0007\u001b[2J\u202egnp.exe\n\u009b31m';
  /** Bytes that a terminal could act on; line ends come from the program itself. */
  const acting = /[\p{Cc}\u202e]/u;

  it.concurrent('holds no control characters from a label, a name or a failed path', async () => {
    const { stdout, stderr, exit } = await lied(
      async (sender) => {
        sender.start(`mallory ${escapes}`);
        sender.page(0, [{ name: `${escapes}a`.slice(0, 200) }, { name: `b${escapes}`, size: 5n }]);
        sender.say({ $case: 'failed', value: { entry: 1, code: 'TRANSFER_SOURCE_CHANGED', path: `../${escapes}` } });
        sender.say({ $case: 'failed', value: { entry: TOP, code: 'TRANSFER_SOURCE_UNREADABLE', path: escapes } });
        sender.end(2, 2, 5);
      },
      { args: ['--verbose'] },
    );
    const shown = `${stdout}${stderr}`;
    expect(exit).toBe(1);
    expect(shown).toContain('mallory \\x1b]0;pwned\\x07');
    expect(shown.split('\n').filter((line) => acting.test(line))).toEqual([]);
  });

  it.concurrent('holds no control characters from a refused name', async () => {
    const { stderr } = await lied((sender) => sender.start().page(0, [{ name: `${escapes}/` }]), { args: [] });
    expect(stderr).toContain('u{1b}');
    expect(stderr.split('\n').filter((line) => acting.test(line))).toEqual([]);
  });
});

describe('a destination that holds', () => {
  const folder: RawEntry[] = [
    { type: DIRECTORY, mode: 0o755, name: 'd' },
    { name: 'precious', parent: 0, size: 0n },
  ];
  const offerFolder = (sender: HostileSender) => sender.start().page(0, folder).end(2, 1, 0);
  const linked = (out: string) => symlink('../outside', join(out, 'd'));

  it.concurrent('a symlink to a folder, where a folder is offered, keeps it and gets another folder', async () => {
    const { exit, left, untouched } = await lied(offerFolder, { prepare: linked });
    expect({ exit, left, untouched }).toEqual({ exit: 0, left: ['d', 'd (1)', 'd (1)/precious'], untouched: true });
  });

  it.concurrent.each(['--overwrite', '--skip'])('such a symlink does not follow it with %s either', async (choice) => {
    const ending = await lied(offerFolder, { prepare: linked, args: ['--json', choice] });
    const { exit, events, left, untouched } = ending;
    const expected = { exit: 1, failed: 'TRANSFER_DESTINATION_EXISTS', left: ['d'], untouched: true };
    expect({ exit, failed: failedCode(events), left, untouched }).toEqual(expected);
  });

  it.concurrent('a symlink to a file, where a file is offered with --overwrite, loses the link and keeps the file', async () => {
    const receiving = await Receiving.begin({
      prepare: (out) => symlink('../outside/precious', join(out, 'f')),
      args: ['--json', '--overwrite'],
    });
    try {
      receiving.sender.start();
      receiving.sender.page(0, [{ name: 'f', size: 0n }]);
      receiving.sender.end(1, 1, 0);
      const { exit, untouched } = await receiving.end();
      expect({ exit, untouched }).toEqual({ exit: 0, untouched: true });
      expect(await readFile(join(receiving.out, 'f'), 'utf8')).toBe('');
    } finally {
      await receiving.close();
    }
  });

  it.concurrent('a file, where a folder is offered with --overwrite, keeps it', async () => {
    const prepare = (out: string) => writeFile(join(out, 'd'), 'mine');
    const { events, left } = await lied(offerFolder, { prepare, args: ['--json', '--overwrite'] });
    expect({ failed: failedCode(events), left }).toEqual({ failed: 'TRANSFER_DESTINATION_EXISTS', left: ['d'] });
  });

  it.concurrent('a symlink in place of our staging folder does not write through it', async () => {
    const prepare = (out: string) => symlink('../outside', join(out, '.keibidrop-partial'));
    const { exit, code, untouched } = await lied(offerFolder, { prepare });
    expect({ exit, code, untouched }).toEqual({ exit: 1, code: 'TRANSFER_DESTINATION_UNUSABLE', untouched: true });
  });

  it.concurrent('a symlink from an offer creates the link and touches nothing at its target', async () => {
    const receiving = await Receiving.begin();
    try {
      const { sender, out } = receiving;
      sender.start();
      sender.page(0, [{ type: SYMLINK, name: 'l', target: '/etc/passwd', mode: 0o777 }, { ...folder[0] }]);
      sender.end(2, 0, 0);
      const { exit, left } = await receiving.end();
      expect({ exit, left }).toEqual({ exit: 0, left: ['d', 'l'] });
      expect(await readlink(join(out, 'l'))).toBe('/etc/passwd');
    } finally {
      await receiving.close();
    }
  });

  it.concurrent('folders as deep as the limit accepts no deeper one', async () => {
    const chain = Array.from({ length: 4098 }, (_, i) => ({
      type: DIRECTORY,
      name: 'd',
      parent: i === 0 ? TOP : i - 1,
    }));
    const { exit, code } = await lied((sender) => sender.start().page(0, chain));
    expect({ exit, code }).toEqual({ exit: 1, code: 'TRANSFER_LIMIT_EXCEEDED' });
  });
});
