// SPDX-License-Identifier: MPL-2.0
import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MountedShare } from '../mounted-share.ts';
import { needs, needsRoot } from './needs.ts';
import { DIFFERENCES } from './pjdfstest-differences.ts';

const USERS = '[features]\n[dummy_auth]\nentries = [["nobody", "nogroup"], ["daemon", "daemon"], ["bin", "bin"]]\n';

let share: MountedShare;
beforeAll(async () => {
  share = await MountedShare.open();
});
afterAll(() => share?.close());

describe('pjdfstest, of a POSIX file system', () => {
  it('has the same results in the mount as on the disk, except for explained differences', async (context) => {
    const program = needs('pjdfstest', context);
    needsRoot(context, 'as all of pjdfstest does');
    await writeFile(share.sandbox.path('pjdfstest.toml'), USERS);
    await mkdir(share.sandbox.path('local'));
    const passed = async (folder: string) => {
      const said = await share.shell(
        `cd ${folder} && ${program} -c ${share.sandbox.path('pjdfstest.toml')} -p . 2>/dev/null || true`,
        500,
      );
      return new Map(
        [...said.matchAll(/^(\S+) +(ok|FAILED|skipped)$/gm)].map(([, test, result]) => [test as string, result]),
      );
    };
    const disk = await passed('local');
    const mount = await passed('bob/far');
    const other = [...disk].filter(([test, result]) => mount.get(test) !== result).map(([test]) => test);
    const unexplained = other.filter((test) => !DIFFERENCES.some(({ tests }) => tests.test(test)));
    const count = (of: Map<string, unknown>, result: string) => [...of.values()].filter((one) => one === result).length;
    const figures = {
      tests: disk.size,
      'ok on the disk': count(disk, 'ok'),
      'in the mount': count(mount, 'ok'),
      explained: other.length,
    };
    Object.assign(context.task.meta, { figures });
    expect(disk.size).toBeGreaterThan(300);
    expect(unexplained.map((test) => `${test}: ${mount.get(test)}, on the disk ${disk.get(test)}`)).toEqual([]);
  });
});
