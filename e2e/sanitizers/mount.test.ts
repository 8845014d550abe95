// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { whyNotMountable } from '../../packages/mount/src/index.ts';
import { run } from '../harness/sandbox.ts';
import { MountedShare } from '../mount/mounted-share.ts';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const GIT = 'git -c user.name=a -c user.email=a@b -c init.defaultBranch=main -c safe.directory=*';
/** Time limit for one shell line, on a busy machine. */
const LINE_SECONDS = 240;

const SANITIZERS = [
  { name: 'address and undefined behaviour', sanitize: 'address,undefined', build: 'build-address' },
  { name: 'threads', sanitize: 'thread', build: 'build-thread' },
];

const reason = await whyNotMountable();
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);

let folder: string;
let share: MountedShare | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keibidrop-sanitizer-'));
});
afterEach(async () => {
  await share?.close();
  share = undefined;
  await rm(folder, { recursive: true });
});

/** Builds the mount host in the build folder of the C++ tests with the same sanitizer. */
function buildHost(build: string, sanitize: string): string {
  const directory = `${NATIVE}/${build}`;
  const options = ['-DKEIBI_ADDON=ON', `-DKEIBI_SANITIZE=${sanitize}`];
  run('cmake', '-S', NATIVE, '-B', directory, '-G', 'Ninja', '--log-level=WARNING', ...options);
  run('ninja', '-C', directory, '--quiet', 'keibidrop-mount');
  return `${directory}/keibidrop-mount`;
}

async function reports(): Promise<string[]> {
  return Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
}

describe.skipIf(reason !== undefined).each(SANITIZERS)(
  'a mount under the sanitizer of $name',
  ({ sanitize, build }) => {
    it('serves several programs at once without a report', async () => {
      const log = `log_path=${join(folder, 'report')}`;
      const env = {
        KD_MOUNT_HOST: buildHost(build, sanitize),
        ASAN_OPTIONS: log,
        UBSAN_OPTIONS: `print_stacktrace=1:${log}`,
        TSAN_OPTIONS: log,
      };
      share = await MountedShare.open({ patienceMs: 30_000, mounting: { env } });
      const shell = (line: string) => (share as MountedShare).shell(line, LINE_SECONDS);

      const clone = `mkdir origin && cd origin && seq -f file%g 200 | xargs touch && ${GIT} init -q && ${GIT} add . && ${GIT} commit -qm all && ${GIT} clone -q . ../bob/far/clone`;
      expect(await shell(clone)).toBe('');
      // Runs a writer, a reader of names and a reader of bytes in the mount, and a program on the sharing side.
      const both = await Promise.all([
        shell(
          `cd bob/far/clone && for i in 1 2 3; do seq 9999 > file$i && ${GIT} commit -qam $i; done; ${GIT} status --porcelain`,
        ),
        shell('for i in 1 2 3 4 5; do ls -lR bob/far/clone > /dev/null; done'),
        shell('for i in 1 2 3; do find bob/far/clone/file* | xargs -P 3 -n 20 cat > /dev/null; done'),
        shell('for i in $(seq 100); do echo $i > anna/work/beside$i; rm -f anna/work/beside$((i - 5)); done'),
      ]);
      expect(both).toEqual(['', '', '', '']);
      expect(await shell(`cd anna/work/clone && ${GIT} fsck && ${GIT} log --format=%s`)).toBe('3\n2\n1\nall');

      const { exit } = await share.mounting.command('unmount', share.far);
      expect({ exit, reports: await reports() }).toEqual({ exit: 0, reports: [] });
    });
  },
);
