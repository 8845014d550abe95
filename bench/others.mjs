// SPDX-License-Identifier: MPL-2.0

// Other programs beside KeibiDrop. Each runs only if it is installed; the table lists the missing ones.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { FUSE_NATIVE, FUSE_NATIVE_LIBRARY } from './mounted.mjs';
import { openSsh } from './ssh.mjs';
import { checkout, venv } from './workspace.mjs';
import { openWormhole } from './wormhole.mjs';

const DEBIAN_PACKAGES = ['openssh-server', 'openssh-client', 'rsync', 'python3-venv', 'libfuse3-dev', 'fuse3'];
const FUSE_NATIVE_VERSION = '2.2.6';
/** They take up to 20 s a run where KeibiDrop takes one; three runs show by how much. */
const RUNS = 3;

/**
 * Starts the servers of other programs on loopback: an sshd, a mailbox server, a relay. `cases(source)` moves a file or
 * tree with each program, at most `runs` times. `missing` has a sentence for each that cannot run.
 */
export async function openOthers(workspace, { runs = RUNS } = {}) {
  const opened = [await openSsh(workspace), await openWormhole(workspace)];
  return {
    missing: opened.flatMap(({ missing }) => missing),
    cases: (source) => opened.flatMap(({ cases }) => cases(source).map((one) => ({ ...one, runs }))),
    close: () => Promise.all(opened.map(({ close }) => close())),
  };
}

/**
 * Runs `npm run bench -- install`. Installs Debian's packages as root, else prints the command to type.
 * Python's and npm's packages go into folders of the benchmark.
 */
export function installOthers() {
  const packages = ['apt-get', 'install', '--yes', '--no-install-recommends', ...DEBIAN_PACKAGES];
  if (process.getuid() === 0) execute(...packages);
  else console.log(`as root: ${packages.join(' ')}`);
  if (!existsSync(venv)) execute('python3', '-m', 'venv', venv);
  execute(`${venv}/bin/pip`, 'install', '--quiet', '--requirement', `${checkout}bench/requirements.txt`);
  mkdirSync(FUSE_NATIVE, { recursive: true });
  // The package has prebuilt files for common machines. It looks for libfuse under another name than the one it ships.
  execute(
    'npm',
    'install',
    '--prefix',
    FUSE_NATIVE,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    `fuse-native@${FUSE_NATIVE_VERSION}`,
  );
  if (!existsSync(FUSE_NATIVE_LIBRARY))
    symlinkSync('node_modules/fuse-shared-library-linux/libfuse/lib/libfuse.so', FUSE_NATIVE_LIBRARY);
}

function execute(command, ...args) {
  console.log([command, ...args].join(' '));
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}
