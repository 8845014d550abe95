// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findMountHost } from '@keibidrop/native';
import type { MountBackend } from './backend.ts';

const run = promisify(execFile);
/** The host's exit code if it gets no arguments: it can be started. */
const USAGE = 2;
/** The host's exit code if the system has no libfuse3. */
const NO_LIBRARY = 7;

/** The mount host in C++ (native/src/fuse), by libfuse 3. */
export const nativeBackend: MountBackend = {
  name: 'native',

  async whyNot() {
    const program = findMountHost();
    if (program === undefined)
      return 'This KeibiDrop was built without libfuse3. Install it (Debian: apt-get install libfuse3-dev fuse3) and run scripts/setup.';
    const { code, stderr } = await run(program).then(
      () => ({ code: 0, stderr: '' }),
      (reason: { code?: unknown; stderr?: string }) => reason,
    );
    if (code === NO_LIBRARY)
      return 'libfuse3 is missing. Install it (Debian, Ubuntu: apt-get install fuse3; Fedora: dnf install fuse3; Alpine: apk add fuse3).';
    if (code !== USAGE) return `The mount host cannot be started (${stderr?.trim() || code}). Install KeibiDrop again.`;
    const helper = await run('fusermount3', ['--version']).then(
      () => true,
      () => false,
    );
    return helper ? undefined : 'fusermount3 is missing. Install it (Debian: apt-get install fuse3).';
  },

  command({ folder, name, patienceMs, cacheBytes, label, locks }) {
    const words = [folder, name, `${patienceMs}`, `${cacheBytes}`];
    if (label !== undefined) words.push(label, ...(locks ? ['locks'] : []));
    return { program: findMountHost() ?? '', words };
  },
};
