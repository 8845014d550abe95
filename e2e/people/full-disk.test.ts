// SPDX-License-Identifier: MPL-2.0
import { rm, statfs, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_ROOT, LISTEN, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from './own-daemon.ts';

const MIB = 2 ** 20;

describe.skipIf(!IS_ROOT)('a daemon whose state directory is full (needs root, for a small file system)', () => {
  let sandbox: Sandbox;
  let daemon: OwnDaemon;
  let ballast: string;
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    await sandbox.mountTmpfs('config', MIB);
    ballast = sandbox.path('config', 'ballast');
    await writeFile(sandbox.path('file'), 'content');
    daemon = await OwnDaemon.start(sandbox, 'config');
    const { id } = await daemon.send({ paths: [sandbox.path('file')] });
    await daemon.state(id, 'waiting');
    await fill();
  });
  afterAll(() => sandbox.close());

  async function fill(): Promise<void> {
    const { bfree, bsize } = await statfs(sandbox.path('config'));
    await writeFile(ballast, new Uint8Array(bfree * bsize));
    expect((await statfs(sandbox.path('config'))).bfree).toBe(0);
  }

  it('starts no send, says that the disk is full, and leaves no code waiting', async () => {
    const { exit, event } = await daemon.command('send', 'file', '--background', ...LISTEN);
    expect([exit, event]).toEqual([1, expect.objectContaining({ code: 'DISK_FULL' })]);
    const { event: listed } = await daemon.command('transfers');
    expect(listed.transfers).toMatchObject([{ id: 1, state: 'waiting' }]);
    expect(await sandbox.announced()).toHaveLength(1);
  });

  it('shares no folder and changes no setting, contact or identity', async () => {
    const own = await daemon.own();
    const { signal } = daemon;
    await expect(own.call('addShare', { path: sandbox.path('config') }, { signal })).rejects.toMatchObject({
      code: 'DISK_FULL',
    });
    await expect.poll(async () => (await own.call('shares', {}, { signal })).shares).toEqual([]);
    for (const args of [['id'], ['contacts', 'add', 'Ann', `${'A'.repeat(86)}`]]) {
      expect(await daemon.command(...args)).toMatchObject({ exit: 1, event: { code: 'DISK_FULL' } });
    }
    await expect(own.call('changeSettings', { values: { label: 'me' } }, { signal })).rejects.toMatchObject({
      code: 'DISK_FULL',
    });
  });

  it('cannot be stopped while it would lose a change, but can once there is room', async () => {
    await daemon.control(1, 'pause');
    for (const _ of [1, 2]) {
      expect(await daemon.command('stop')).toMatchObject({ exit: 1, event: { code: 'DISK_FULL' } });
    }
    await rm(ballast);
    expect(await daemon.command('stop')).toMatchObject({ exit: 0, event: { ran: true, unfinished: 1 } });
    expect(await daemon.running.ended).toBe(0);
  });

  it('can be stopped with a full disk if its whole state is saved', async () => {
    const { running } = await OwnDaemon.start(sandbox, 'config');
    await fill();
    expect(await daemon.command('stop')).toMatchObject({ exit: 0, event: { ran: true, unfinished: 1 } });
    expect(await running.ended).toBe(0);
  });

  it('ends at a signal whether or not it can save', async () => {
    await rm(ballast);
    const { running } = await OwnDaemon.start(sandbox, 'config');
    await fill();
    await daemon.command('transfers', 'resume', '1');
    running.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(running.stderr).toContain('DISK_FULL');
  });
});
