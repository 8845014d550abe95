// SPDX-License-Identifier: MPL-2.0

// npm run soak -- mount [STEP…]: what takes minutes, with real programs, each step by itself. STEP is the name of a file of e2e/mount/soak, or a part of
// the name of a step. A step that needs root, or a program that is missing, is skipped and says so.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOAKS = ['mount'];
const LONGEST_MS = 3_600_000;
/**
 * As root, in a mount namespace of its own, so that mounts end with it. There /dev/fuse is open to all users, and the owner of a FUSE
 * connection can abort it: udev and systemd do that, containers do not.
 */
const APART = [
  'unshare',
  '--mount',
  '--propagation',
  'slave',
  'sh',
  '-c',
  `at=$(mktemp -d) && mount -t tmpfs -o mode=755 tmpfs "$at" && mknod -m 666 "$at/fuse" c 10 229 && mount --bind "$at/fuse" /dev/fuse && umount -l "$at" && rmdir "$at" && { mount -t fusectl fusectl /sys/fs/fuse/connections 2> /dev/null || true; } && exec "$@"`,
  'sh',
];

const [soak, ...steps] = process.argv.slice(2);
if (!SOAKS.includes(soak)) {
  console.error(`usage: npm run soak -- ${SOAKS.join(' | ')} [STEP…]`);
  process.exit(2);
}
const folder = `e2e/${soak}/soak`;
const files = readdirSync(join(root, folder)).filter((name) => name.endsWith('.soak.ts'));
const named = steps.filter((step) => files.includes(`${step}.soak.ts`));
const parts = steps.filter((step) => !named.includes(step));
const pattern = parts.map((part) => part.replaceAll(/[^\w ]/g, '.')).join('|');
const command = [
  ...(process.getuid() === 0 ? APART : []),
  join(root, 'node_modules/.bin/vitest'),
  'run',
  '--project=soak',
  '--maxWorkers=1',
  `--reporter=${join(root, 'scripts/soak-reporter.mjs')}`,
  ...(parts.length > 0 ? ['--testNamePattern', pattern] : []),
  ...(named.length > 0 ? named.map((step) => `${folder}/${step}.soak.ts`) : [folder]),
];
const stdio = ['ignore', 'inherit', 'inherit'];
process.exitCode = spawnSync(command[0], command.slice(1), { cwd: root, stdio, timeout: LONGEST_MS }).status ?? 1;
