// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';

const installed = (program: string) => spawnSync('which', [program]).status === 0;
const HAS_KEYCHAIN = installed('gnome-keyring-daemon') && installed('dbus-run-session');

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.open();
});
afterEach(() => sandbox.close());

/** The command for a desktop session of its own with GNOME's keychain: unlocked, or locked as it is before login. */
function desktop(daemon: string): string[] {
  return ['dbus-run-session', '--', 'sh', '-c', `${daemon} >/dev/null 2>&1; exec "$@"`, 'sh'];
}
const UNLOCKED = desktop('printf owls | gnome-keyring-daemon --unlock --components=secrets');
const LOCKED = desktop('gnome-keyring-daemon --start --components=secrets');

/** Runs `keibidrop id …` to its end. Returns its first JSON event. */
async function id(under: string[], ...args: string[]) {
  const running = await sandbox.start(['id', ...args, '--config', 'me', '--json'], { under });
  await running.ended;
  return running.events()[0] as Record<string, string> | undefined;
}

describe.skipIf(!HAS_KEYCHAIN)('an identity on a desktop (needs gnome-keyring and dbus-run-session)', () => {
  it('has its key in the keychain, from one login to the next, and opens nowhere else', async () => {
    const first = await id(UNLOCKED);
    expect(first).toMatchObject({ event: 'identity', lock: 'keychain' });
    expect((await readdir(sandbox.path('me'))).sort()).toEqual(['identity', 'identity.lock']);
    expect(await id(UNLOCKED)).toEqual(first);

    const left = await readFile(sandbox.path('me', 'identity'));
    const refused = { event: 'error', code: 'IDENTITY_LOCKED', message: expect.stringContaining('by the keychain') };
    expect(await id(LOCKED)).toEqual(refused);
    expect(await id([])).toEqual(refused);
    expect(await readFile(sandbox.path('me', 'identity'))).toEqual(left);

    expect(await id(UNLOCKED, 'passphrase', '--remove')).toEqual({ ...first, lock: 'key' });
    expect(await id([])).toEqual({ ...first, lock: 'key' });
  });

  it('gets a key file if the keychain is locked when the identity is made', async () => {
    expect(await id(LOCKED)).toMatchObject({ event: 'identity', lock: 'key' });
  });
});
