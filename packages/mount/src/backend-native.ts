// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findMountHost } from '@keibidrop/native';
import type { MountBackend } from './backend.ts';

const run = promisify(execFile);
/** What the host ends with when it is told nothing: it can be started. */
const USAGE = 2;

/** native/src/fuse, by libfuse 3. */
export const nativeBackend: MountBackend = {
  name: 'native',

  async whyNot() {
    const program = findMountHost();
    if (program === undefined)
      return 'This KeibiDrop was built without libfuse3. Install it (Debian: apt-get install libfuse3-dev fuse3) and run scripts/setup.';
    const code = await run(program).then(
      () => 0,
      (reason: { code?: unknown }) => reason.code,
    );
    if (code !== USAGE)
      return 'The mount host cannot be started: libfuse3 is missing. Install it (Debian: apt-get install libfuse3-3).';
    const helper = await run('fusermount3', ['--version']).then(
      () => true,
      () => false,
    );
    return helper ? undefined : 'fusermount3 is missing. Install it (Debian: apt-get install fuse3).';
  },

  command({ folder, name, patienceMs, cacheBytes, label }) {
    const words = [folder, name, `${patienceMs}`, `${cacheBytes}`];
    return { program: findMountHost() ?? '', words: label === undefined ? words : [...words, label] };
  },
};
