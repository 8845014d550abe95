// SPDX-License-Identifier: MPL-2.0
import { mkdir, stat } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { NOBODY } from '../../harness/sandbox.ts';
import { MountedShare } from '../mounted-share.ts';
import { TwoPrograms } from '../two-programs.ts';
import { needsRoot } from './needs.ts';

let share: MountedShare;
afterEach(() => share?.close());

const as = { uid: NOBODY };
/** Discovery on this machine works for one user only. */
const by = { address: '127.0.0.1:26437' };
const asNobody = (line: string) =>
  share.shell(`setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups sh -c '${line}'`);

describe('a mount of another user than root', () => {
  it('belongs to that user: they read, write and unmount it, and no other user sees into it', async (context) => {
    needsRoot(context, 'to be another user');
    share = await MountedShare.open({ by, mounting: as });
    const lines =
      'cd bob/far && echo one > a && mkdir d && mv a d/b && chmod 640 d/b && ln -s b d/l && cat d/l && sync d/b && stat -c "%u %a" d/b';
    expect(await asNobody(lines)).toBe(`one\n${NOBODY} 640`);
    expect((await stat(`${share.work}/d/b`)).uid).toBe(0);
    expect(await share.shell('ls bob/far')).toMatch(/Permission denied/);
    const unmounted = await share.mounting.command('unmount', share.far);
    expect(unmounted).toMatchObject({ exit: 0, event: { event: 'unmounted', unsent: 0 } });
    expect(share.isMounted).toBe(false);
    expect(await share.shell('cat anna/work/d/b; ls bob')).toMatch(/^one\nconfig/);
  });

  it('is refused where the user may not write', async (context) => {
    needsRoot(context, 'to be another user');
    share = await MountedShare.open({ by, mounting: as });
    await mkdir(share.sandbox.path('root-only'), { mode: 0o755 });
    const refused = await share.mounting.command('mount', share.code, share.sandbox.path('root-only'));
    expect(refused).toMatchObject({ exit: 6, event: { code: 'MOUNT_UNAVAILABLE' } });
  });

  it('comes back after its host was killed, and after its daemon was killed', async (context) => {
    needsRoot(context, 'to be another user');
    share = await MountedShare.open({ by, mounting: as, patienceMs: 5000, words: ['--cache-size', '16M'] });
    for (const kill of [() => process.kill(share.host as number, 'SIGKILL'), () => share.mounting.running.kill()]) {
      const programs = await TwoPrograms.start(share, { as });
      const host = share.host;
      kill();
      await programs.noticed();
      if (share.mounting.running.child.killed) await share.mounting.replace();
      await share.hasOtherHost(host);
      expect(await asNobody('until cmp bob/far/known-0 anna/work/known-0 2>/dev/null; do sleep 0.02; done')).toBe('');
      expect(await share.shell('grep -c bob/far /proc/self/mountinfo')).toBe('1');
      await programs.end(context);
    }
  });
});
