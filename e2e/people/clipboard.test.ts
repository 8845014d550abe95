// SPDX-License-Identifier: MPL-2.0
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CODE, LISTEN, lastOf, Sandbox } from '../harness/sandbox.ts';

const HAS_SCREEN = ['Xvfb', 'xclip'].every((program) => spawnSync('which', [program]).status === 0);

describe.skipIf(!HAS_SCREEN)('the clipboard (needs Xvfb and xclip)', () => {
  let room: Sandbox;
  let screen: ReturnType<typeof spawn>;
  let env: Record<string, string>;
  beforeAll(async () => {
    room = await Sandbox.open();
    screen = spawn('Xvfb', ['-displayfd', '1', '-nolisten', 'tcp'], { stdio: ['ignore', 'pipe', 'ignore'] });
    if (screen.stdout === null) throw new Error('Xvfb has no output');
    const [display] = await once(createInterface(screen.stdout), 'line');
    env = { DISPLAY: `:${display}` };
  });
  afterAll(async () => {
    screen.kill();
    await room.close();
  });

  it('reports an empty clipboard', async () => {
    const sender = await room.start(['send', '--clipboard', '--json'], { env });
    expect(await sender.ended).toBe(2);
    expect(lastOf(sender)).toMatchObject({ code: 'USAGE', message: 'There is no text on the clipboard.' });
  });

  it('sends copied text', async () => {
    const copied = 'Grüße 📋\nsecond line';
    // xclip stays in the background to serve the text.
    const copy = spawn('xclip', ['-selection', 'clipboard', '-i', '-loops', '2'], { env: { ...process.env, ...env } });
    copy.stdin.end(copied);
    await once(copy, 'exit');
    const { sender } = await room.send(['--clipboard'], { env });
    const receiver = await room.receive();
    expect(await receiver.until('text')).toMatchObject({ text: copied });
    expect(await sender.ended).toBe(0);
  });

  it('gets the code with --copy', async () => {
    const sender = await room.start(['send', '--text', 'hello', '--code', CODE, '--copy', ...LISTEN], { env });
    await sender.shows(/The code is copied/);
    const { stdout } = spawnSync('xclip', ['-selection', 'clipboard', '-o'], { env: { ...process.env, ...env } });
    expect(`${stdout}`).toBe(CODE);
    sender.kill('SIGINT');
    await sender.ended;
  });

  it('reports that there is no screen', async () => {
    const sender = await room.start(['send', '--clipboard', '--json']);
    expect(await sender.ended).toBe(2);
    expect(lastOf(sender)).toMatchObject({ message: 'There is no screen here, so there is no clipboard.' });
  });
});
