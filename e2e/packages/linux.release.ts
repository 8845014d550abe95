// SPDX-License-Identifier: MPL-2.0
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { run } from '../harness/sandbox.ts';

// The deb and the rpm in the folder that `npm run test:packages` has filled. Needs root, debootstrap, rpm and cpio.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = process.env.KD_TEST_PACKAGES ?? '';
const MOST_BYTES = 50 * 2 ** 20;
const FILES = [
  '/etc/keibidrop-relay/config.toml',
  '/usr/bin/keibidrop',
  '/usr/lib/keibidrop/keibidrop-mount',
  '/usr/lib/keibidrop/keibidrop.cjs',
  '/usr/lib/keibidrop/keibidrop.node',
  '/usr/lib/keibidrop/node',
  '/usr/lib/keibidrop/node_modules/@napi-rs/keyring/package.json',
  '/usr/lib/systemd/system/keibidrop-relay.service',
  '/usr/lib/systemd/user/keibidrop-daemon.service',
  '/usr/share/bash-completion/completions/keibidrop',
  '/usr/share/fish/vendor_completions.d/keibidrop.fish',
  '/usr/share/doc/keibidrop/THIRD-PARTY-NOTICES',
  '/usr/share/man/man1/keibidrop.1.gz',
];

let deb: string;
let rpm: string;
beforeAll(async () => {
  const names = await readdir(FOLDER);
  const fileNamed = (end: string) => join(FOLDER, names.find((name) => name.endsWith(end)) ?? `no ${end}`);
  deb = fileNamed('_amd64.deb');
  rpm = fileNamed('.x86_64.rpm');
});

describe('the deb', () => {
  it.each(['bullseye', 'bookworm', 'trixie'])('installs, transfers and uninstalls in Debian %s', (suite) => {
    const root = run(join(ROOT, 'scripts/debian-root'), suite).trim();
    const said = run(join(ROOT, 'e2e/packages/debian-trial'), root, deb);
    expect(said).toContain('trial: transfer of 5000000 bytes\n');
    expect(said).toMatch(/trial: Installed .*autostart/);
    expect(said).toContain('trial: relay started and stopped\n');
    expect(said).toMatch(/trial: data left in [1-9]\d* files\ntrial: done\n$/);
  });

  it('has its files, and is not too large', async () => {
    const listed = run('dpkg-deb', '--contents', deb);
    for (const file of [...FILES, '/usr/share/zsh/vendor-completions/_keibidrop'])
      expect(listed).toContain(` .${file}\n`);
    expect((await stat(deb)).size).toBeLessThan(MOST_BYTES);
  });

  it('has a manual without errors, and units that systemd accepts', async () => {
    const unpacked = join(FOLDER, 'deb');
    run('dpkg-deb', '--extract', deb, unpacked);
    const manual = join(unpacked, 'usr/share/man/man1/keibidrop.1.gz');
    expect(run('sh', '-c', `zcat ${manual} | groff -k -man -Tutf8 -wall -z 2>&1`)).toBe('');
    const relay = join(unpacked, 'usr/lib/systemd/system/keibidrop-relay.service');
    const judged = run('systemd-analyze', 'security', '--offline=true', '--threshold=20', relay);
    expect(judged).toMatch(/exposure level for keibidrop-relay\.service: [01]\.\d OK/);
  });
});

describe('the rpm', () => {
  it('has the same files, whose digests agree', () => {
    const listed = run('rpm', '-qlp', rpm).split('\n');
    expect(listed).toEqual(expect.arrayContaining([...FILES, '/usr/share/zsh/site-functions/_keibidrop']));
    expect(run('rpm', '--checksig', '--nosignature', rpm)).toMatch(/digests OK/);
    const needs = run('rpm', '-qpR', rpm);
    expect(needs).toContain('glibc >= 2.28');
  });

  it('contains a program that starts', () => {
    const at = join(FOLDER, 'rpm');
    run('sh', '-c', `mkdir -p ${at} && cd ${at} && rpm2cpio ${rpm} | cpio --extract --make-directories --quiet`);
    const home = join(at, 'usr/lib/keibidrop');
    expect(run(join(home, 'node'), join(home, 'keibidrop.cjs'), '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
