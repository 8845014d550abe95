// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { columnsOf } from '../../apps/cli/src/terminal/terminal-text.ts';
import { inNamespace, Lan } from '../harness/lan.ts';
import { LaneCounter } from '../harness/lane-counter.ts';
import { CODE, IS_ROOT, LISTEN, Sandbox } from '../harness/sandbox.ts';
import { HAS_TMUX, Tmux, type TmuxWindow } from '../harness/tmux.ts';
import { writeRandom } from '../harness/tree.ts';

// The screens of the real program, as a person sees them in tmux.

const WIDTHS = [40, 80, 160];
const PHOTOS = ['IMG_2041 at the lake, early in the morning.jpg', '東京の机の上 🦆.png'];
const SLOWLY = ['--limit', '2M'];
const BAR = / {0,2}(\d+)% ▕█*[▏▎▍▌▋▊▉]? *▏/;

let room: Sandbox;
let tmux: Tmux;
beforeEach(async () => {
  room = await Sandbox.open();
  tmux = new Tmux();
  await mkdir(room.path('photos'));
  for (const name of PHOTOS) await writeRandom(room.path('photos', name), 2 << 20);
});
afterEach(async () => {
  tmux.close();
  await room.close();
});

const send = (columns: number, ...more: string[]) =>
  room.openWindow(tmux, ['send', 'photos', '--code', CODE, ...LISTEN, ...more], { columns });

/** All text, with the line breaks that the width of the window made taken out. */
const sentences = (window: TmuxWindow) => window.text().replace(/\s+/g, ' ');

const shows = (window: TmuxWindow, text: RegExp) => expect.poll(() => window.text()).toMatch(text);

function fits(window: TmuxWindow, columns: number): void {
  for (const line of window.lines()) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
}

describe.skipIf(!HAS_TMUX)('in a terminal (needs tmux)', () => {
  it.each(WIDTHS)(
    'of %d columns a transfer has a bar, the file in progress, and an end in a sentence',
    async (columns) => {
      const sender = await send(columns, ...SLOWLY);
      const receiver = await room.openWindow(tmux, ['receive', CODE, '--out', 'in'], { columns });
      const record = room.path('record');
      receiver.record(record);
      await shows(receiver, /Receive them\? \[y\/N\]/);
      expect(sentences(receiver)).toContain(
        'offers 2 files, 1 folder, 4.2 MB (local, aes-256-gcm) photos into ~/in, where',
      );
      receiver.type('y', 'Enter');
      for (const window of [receiver, sender]) {
        await shows(window, new RegExp(`${BAR.source}.*\n +[012]/2 files  photos.*\\.(jpg|png)`));
        expect(BAR.exec(window.text())?.[0].length).toBeGreaterThan(columns / 5);
        fits(window, columns);
      }
      await expect.poll(() => sentences(sender)).toMatch(/ Sent 2 files, 4\.2 MB in \S+ s \(\S+ MB\/s\)\./);
      await expect
        .poll(() => sentences(receiver))
        .toMatch(/ Received 2 files, 4\.2 MB into ~\/in in \S+ s \(\S+ MB\/s\)\./);
      expect(receiver.text()).not.toContain('▕');
      const shares = [...stripVTControlCharacters(await readFile(record, 'utf8')).matchAll(/(\d+)% ▕/g)].map(
        ([, share]) => Number(share),
      );
      expect(shares).toEqual(shares.toSorted((a, b) => a - b));
      expect(shares.at(-1)).toBe(100);
    },
  );

  it.each(WIDTHS)('of %d columns two receivers have a row each, and a sum', async (columns) => {
    const sender = await send(columns, ...SLOWLY, '--receivers', '2');
    for (const out of ['one', 'two']) await room.receive(['--out', out]);
    const row = (name: string) => `\n${name} +${BAR.source}.*`;
    await shows(sender, new RegExp(`${row('1 .*?')}${row('2 .*?')}${row('2 receivers')}`));
    fits(sender, columns);
    await shows(sender, /Sent 4 files, 8\.4 MB/);
  });

  it('a lost connection shows until it is found again', async () => {
    const proxy = await LaneCounter.open();
    try {
      const { port } = (await room.send(['photos', ...SLOWLY])) as { port: number };
      proxy.target = port;
      const args = ['receive', CODE, '--yes', '--connect', proxy.address, '--out', 'in'];
      const receiver = await room.openWindow(tmux, args, { columns: 80, env: { KD_PATIENCE: '60s' } });
      await shows(receiver, /[1-9]\d?% ▕/);
      proxy.target = 1;
      proxy.cut();
      await shows(receiver, /Warning: The connection was lost\. Reconnecting; Ctrl-C stops\.\n.*% ▕.* reconnecting/);
      proxy.target = port;
      await shows(receiver, /Connected again to .*\n.*% ▕.* MB\/s/);
      await shows(receiver, /Received 2 files, 4\.2 MB into ~\/in/);
    } finally {
      await proxy.close();
    }
  });

  it('the lines follow the size of the window', async () => {
    const sender = await send(100, ...SLOWLY);
    await room.receive(['--out', 'in']);
    await shows(sender, BAR);
    sender.type('p');
    await shows(sender, /paused/);
    sender.resize(45);
    await expect.poll(() => BAR.exec(sender.text())?.[0].length ?? 99).toBeLessThan(45);
    fits(sender, 45);
    expect(sender.text().match(/▕/g)).toHaveLength(1);
    expect(sender.text().match(/files/g)).toHaveLength(1);
    sender.type('p');
    await shows(sender, /Sent 2 files/);
  });

  it('there is colour, but none with NO_COLOR, and plain lines on a dumb terminal', async () => {
    const [coloured, colourless, dumb] = await Promise.all(
      [{}, { NO_COLOR: '1' }, { TERM: 'dumb' }].map((env, i) =>
        room.openWindow(tmux, ['send', 'photos', '--code', `${i}${CODE}`, '--limit', '1500K', ...LISTEN], {
          columns: 80,
          env,
        }),
      ),
    );
    for (const i of [0, 1, 2]) await room.start(['receive', `${i}${CODE}`, '--yes', '--out', `in${i}`]);
    for (const window of [coloured, colourless]) await shows(window as TmuxWindow, /[1-9]\d?% ▕█/);
    const escapes = (window?: TmuxWindow) => window?.lines({ colours: true }).join('').includes('\u001b[');
    expect([escapes(coloured), escapes(colourless)]).toEqual([true, false]);
    expect(coloured?.lines({ colours: true }).join('')).toContain('\u001b[32m');
    await shows(dumb as TmuxWindow, /Sent 2 files/);
    expect(dumb?.text()).not.toContain('▕');
    expect(escapes(dumb)).toBe(false);
  });

  it('of 40 columns questions and errors break between words', async () => {
    await mkdir(room.path('in', 'photos'), { recursive: true });
    for (const name of PHOTOS) await writeRandom(room.path('in', 'photos', name), 99);
    await send(40);
    const asked = await room.openWindow(tmux, ['receive', CODE, '--ask', '--out', 'in'], { columns: 40 });
    await shows(asked, /Receive them/);
    asked.type('y', 'Enter');
    await expect
      .poll(() => sentences(asked))
      .toContain('exists already and differs. (o)verwrite, (s)kip, (r)ename the new one; a capital answers for all:');
    asked.type('S', 'Enter');
    await expect.poll(() => sentences(asked)).toContain('2 files already existed and were skipped.');

    const refused = await room.openWindow(tmux, ['receive', '9-no-one', '--yes'], { columns: 40 });
    await expect.poll(() => sentences(refused)).toMatch(/keibidrop: No sender is waiting .*\./);
    fits(refused, 40);
  });

  it('send --qr shows the link, or says what room it needs', async () => {
    const sender = await send(80, '--qr');
    await shows(sender, /█ ▄▄▄▄▄ █.*█ ▄▄▄▄▄ █/);
    fits(sender, 80);
    const small = await room.openWindow(tmux, ['send', 'photos', '--qr', ...LISTEN], { columns: 30 });
    await expect
      .poll(() => sentences(small))
      .toContain('The QR code cannot be shown: it needs 34 columns and 18 rows.');
  });

  it.skipIf(!IS_ROOT)('receive without a code lists who is sending nearby (needs root, for namespaces)', async () => {
    const lan = new Lan();
    const other = await Sandbox.open();
    try {
      const middle = lan.switch('s');
      const [one, two] = [lan.host('h1'), lan.host('h2')];
      lan.plug(one, middle, 'eth0', { ipv4: '10.77.0.1/24' });
      lan.plug(two, middle, 'eth0', { ipv4: '10.77.0.2/24' });
      const env = { KD_DISCOVERY: 'auto' };
      const receiver = await other.openWindow(tmux, ['receive'], { columns: 60, env, under: inNamespace(two) });
      await shows(receiver, /^Code \(Tab completes words\):$/m);
      receiver.type('7-guitar-');
      const under = { env, under: inNamespace(one) };
      const sender = await room.start(['send', 'photos', '--code', CODE], under);
      await shows(receiver, /^10\.77\.0\.1 is sending\.$(.|\n)*^Code \(Tab completes words\): 7-guitar-$/m);
      receiver.type('penc', 'Tab');
      await shows(receiver, /: 7-guitar-pencil/);
      receiver.type('Enter');
      await shows(receiver, /Receive them\?/);
      receiver.type('y', 'Enter');
      await expect.poll(() => sentences(receiver)).toMatch(/Received 2 files, 4\.2 MB into ~/);
      expect(await sender.ended).toBe(0);
    } finally {
      await other.close();
      lan.close();
    }
  });
});
