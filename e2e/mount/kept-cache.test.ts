// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { LISTEN, Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { shellIn } from './shell.ts';

const PATIENT = { env: { KD_PATIENCE: '5m', KD_MOUNT_PATIENCE_MS: '1500' } };

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let sandbox: Sandbox;
let anna: OwnDaemon;
let bob: OwnDaemon;

const shell = (line: string) => shellIn(sandbox, line);

describe.skipIf(reason !== undefined)('mount --keep-cache', () => {
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    await mkdir(sandbox.path('photos'));
    for (const name of ['cat', 'dog', 'unread']) await writeFile(sandbox.path('photos', name), randomBytes(300_000));
    anna = await OwnDaemon.start(sandbox, 'anna', PATIENT);
    bob = await OwnDaemon.start(sandbox, 'bob', PATIENT);
    await anna.know('Bob', bob);
    await bob.know('Anna', anna);
    const asked = bob.until(({ event, kind }) => event === 'question' && kind === 'invitation');
    await anna.command('add', 'photos', '--to', 'bob', ...LISTEN);
    await asked;
  });
  afterAll(async () => {
    await bob?.command('stop');
    await sandbox?.close();
  });

  it('serves read files from the cache in the next mount, across a daemon restart, in their current version only', async () => {
    expect(await bob.command('mount', 'Anna', 'far', '--keep-cache')).toMatchObject({
      exit: 0,
      event: { event: 'mount', share: 'photos', keepCache: true },
    });
    expect(await shell('cmp far/cat photos/cat && cmp far/dog photos/dog && ls far')).toBe('cat\ndog\nunread');
    await bob.replace();
    await bob.until((event) => event.event === 'mount' && event.state === 'open');
    await writeFile(sandbox.path('photos', 'dog'), randomBytes(300_000));
    expect(
      await shell('until [ "$(stat -c %y far/dog)" = "$(stat -c %y photos/dog)" ]; do sleep 0.02; done; ls far'),
    ).toBe('cat\ndog\nunread');
    anna.running.kill();
    await anna.running.ended;
    expect(await shell('cmp far/cat photos/cat && echo same')).toBe('same');
    expect(await shell('cat far/dog > read')).toMatch(/timed out|Input\/output error/);
    await anna.replace();
    expect(await shell('until cmp far/dog photos/dog 2>/dev/null; do sleep 0.1; done; ls far/dog')).toBe('far/dog');
  });

  it('is private, and dropped by the next mount without the option', async () => {
    const kept = 'find . -path "*/mounts/kept/*" -name "*.data" -printf "%m\\n" | sort -u';
    expect(await shell(kept)).toBe('600');
    await bob.command('unmount', 'far');
    expect(await shell(kept)).toBe('600');
    expect(await shell('find . -path "*/mounts/kept/*" -type d -perm /077')).toBe('');
    const asked = bob.until(({ event, kind }) => event === 'question' && kind === 'invitation');
    await anna.command('add', 'photos', '--to', 'bob', ...LISTEN);
    await asked;
    expect((await bob.command('mount', 'Anna', 'far')).event).toMatchObject({ keepCache: false });
    expect(await shell('cat far/cat far/dog | wc -c')).toBe('600000');
    expect(await shell(kept)).toBe('');
  });

  it('is refused for a share joined by a code, which does not say whose share it is', async () => {
    const { event } = await anna.command('add', 'photos', ...LISTEN);
    expect(await bob.command('mount', `${event.code}`, 'other', '--keep-cache')).toMatchObject({
      exit: 2,
      event: { code: 'USAGE', message: expect.stringContaining('does not say who') },
    });
  });
});
