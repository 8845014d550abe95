// SPDX-License-Identifier: MPL-2.0
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exitsOf, lastOf, run, Sandbox } from '../harness/sandbox.ts';
import { readTree, writeRandom, writeSmallFiles } from '../harness/tree.ts';

const MIB = 1 << 20;
const SUCCESS = { sender: 0, receiver: 0 };
const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const BUILD_TIMEOUT_MS = 400_000;

const SANITIZERS = [
  {
    name: 'address and undefined behaviour',
    sanitize: 'address,undefined',
    build: 'build-address',
    runtime: ['libasan.so', 'libubsan.so'],
    // V8 keeps pointers where the leak detector does not look, so the C++ tests look for leaks.
    options: (report: string) => ({
      ASAN_OPTIONS: `detect_leaks=0:log_path=${report}`,
      UBSAN_OPTIONS: `print_stacktrace=1:log_path=${report}`,
    }),
    isOurs: () => true,
  },
  {
    name: 'threads',
    sanitize: 'thread',
    build: 'build-thread',
    runtime: ['libtsan.so'],
    options: (report: string) => ({ TSAN_OPTIONS: `exitcode=0:log_path=${report}` }),
    // Node and V8 are not instrumented. Of them TSan sees mutexes and memory that libc touches, but not the atomics
    // that order those accesses, so it reports false races, also where we called them. An access of ours is in the
    // addon itself. TSan loses track of descriptors, since libuv closes them by a bare system call and openat is not
    // intercepted. It then takes the next file with that number for the same one.
    isOurs: (warning: string) =>
      accessedIn(warning, 'keibidrop.node') && !warning.includes('Location is file descriptor'),
  },
];

/** Whether a report is about `module`: in one of its stacks the innermost frame outside system libraries is there. */
function accessedIn(report: string, module: string): boolean {
  return report.split(/\n\s*\n/).some((stack) => {
    const frames = [...stack.matchAll(/#\d+ .*\(([^()]+)\+0x[0-9a-f]+\)/g)].map(([, name]) => name as string);
    return frames.find((name) => !/^lib(tsan|c|stdc\+\+|gcc_s)\./.test(name)) === module;
  });
}

let room: Sandbox;
beforeEach(async () => {
  room = await Sandbox.open();
});
afterEach(async ({ task }) => {
  // If a sanitizer ended a process, the test fails before it reads the report.
  if (task.result?.state === 'fail') console.log((await reports()).join('\n'));
  await room.close();
});

/**
 * The addon under a sanitizer, in the build folder of the C++ tests; built if it is missing or older than its source.
 */
function buildAddon(build: string, sanitize: string): string {
  const directory = `${NATIVE}/${build}`;
  const options = ['-DKEIBI_ADDON=ON', `-DKEIBI_SANITIZE=${sanitize}`];
  run('cmake', '-S', NATIVE, '-B', directory, '-G', 'Ninja', '--log-level=WARNING', ...options);
  run('ninja', '-C', directory, '--quiet', 'keibidrop');
  return `${directory}/keibidrop.node`;
}

/** The sanitizer's reports about all processes of this test. */
async function reports(): Promise<string[]> {
  const files = (await readdir(room.home)).filter((name) => name.startsWith('report.'));
  const texts = await Promise.all(files.map((name) => readFile(room.path(name), 'utf8')));
  return texts.flatMap((text) => text.split(/^=+$/m)).filter((report) => report.trim() !== '');
}

describe.each(SANITIZERS)('under the sanitizer of $name', ({ sanitize, build, runtime, options, isOurs }) => {
  it(
    'delivers an interrupted and resumed transfer without a report',
    async () => {
      const addon = buildAddon(build, sanitize);
      const env = {
        KD_NATIVE_BINDING: addon,
        LD_PRELOAD: runtime.map((name) => run('g++', `-print-file-name=${name}`).trim()).join(' '),
        ...options(room.path('report')),
        KD_LANES: '3',
        KD_REKEY_BYTES: `${8 * MIB}`,
      };
      await writeSmallFiles(room.path('source', 'small'), 1500);
      await writeRandom(room.path('source', 'large'), 80 * MIB);

      const { sender } = await room.send(['source', '--limit', '100M'], { env });
      const receiver = await room.receive(['--out', 'out'], { env });
      await receiver.until('progress', ({ bytes }) => (bytes as number) >= 20 * MIB);
      receiver.kill('SIGINT');
      const exit = await receiver.ended;
      expect({ exit, reports: (await reports()).filter(isOurs) }).toEqual({ exit: 130, reports: [] });

      const again = await room.receive(['--out', 'out', '--verify'], { env });
      const exits = await exitsOf({ sender, receiver: again });
      expect({ exits, reports: (await reports()).filter(isOurs) }).toEqual({ exits: SUCCESS, reports: [] });
      expect(lastOf(again)?.resumedBytes).toBeGreaterThan(0);
      expect(await readTree(room.path('out', 'source'))).toEqual(await readTree(room.path('source')));
    },
    BUILD_TIMEOUT_MS,
  );
});
