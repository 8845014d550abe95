// SPDX-License-Identifier: MPL-2.0
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { describe, expect, it } from 'vitest';
import { MountedFolder } from '../test/mounted-folder.ts';
import { shell } from '../test/outside.ts';
import { backendOf } from './usable-backend.ts';

const SIZE = 24 * 2 ** 20;
const [major = 0, minor = 0] = release().split('.').map(Number);
const passes = process.getuid?.() === 0 && (major > 6 || (major === 6 && minor >= 9));
const unusable = await backendOf('native').whyNot();
const reason = unusable ?? (passes ? undefined : 'The kernel reads by itself for root alone, since Linux 6.9.');
if (reason !== undefined) console.warn(`SKIPPED: ${reason}`);

describe.skipIf(reason !== undefined)('files that are complete, read-only', () => {
  const here = new MountedFolder('native');
  /** Bytes that the mount host has read, from its link and its cache. */
  const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${here.hostPid()}/io`, 'utf8'))?.[1]);
  /** Reads from the beginning, and not from pages that the kernel has of the mount. */
  const READ = 'dd if="$1" iflag=nocache count=0 status=none; cmp "$1" "$2"';
  const read = () => shell(READ, here.at('f'), here.there('f'));
  const write = (text: string) => writeFileSync(here.there('f'), Buffer.alloc(SIZE, text));

  it('are read by the kernel alone, and by the host where they can be written', async () => {
    write('complete ');
    for (const readOnly of [true, false]) {
      const shown = await here.show({ readOnly });
      expect(await read()).toBe('');
      const before = bytesRead();
      expect(await read()).toBe('');
      expect(bytesRead() - before < SIZE / 10).toBe(readOnly);
      expect(bytesRead() - before >= SIZE).toBe(!readOnly);
      await shown.unmount();
    }
  });

  it('keep their old content for open handles, and show the new one to later opens', async () => {
    write('a');
    await here.show({ readOnly: true });
    await read();
    const line = `exec 3< "$1"; head -c 5 <&3; touch "$3/read"; until [ -e "$3/go" ]; do sleep 0.02; done
      cmp "$1" "$2"; cat <&3 | tr -d a | wc -c; exec 3<&-; cmp "$1" "$2"; cmp "$1" "$2" && echo same`;
    const reader = shell(line, here.at('f'), here.there('f'), here.folder);
    await shell('until [ -e "$1/read" ]; do sleep 0.02; done', here.folder);
    // In place: it is the same inode.
    write('b');
    await shell(
      'until [ "$(stat -c %Y.%y "$1")" = "$(stat -c %Y.%y "$2")" ]; do sleep 0.02; done',
      here.at('f'),
      here.there('f'),
    );
    writeFileSync(`${here.folder}/go`, '');
    expect(await reader).toBe('aaaaa0\nsame');
    writeFileSync(here.there('new'), Buffer.alloc(SIZE, 'c'));
    renameSync(here.there('new'), here.there('f'));
    await shell('until [ "$(head -c 1 "$1")" = c ]; do sleep 0.02; done', here.at('f'));
    for (let i = 0; i < 3; i++) expect(await read()).toBe('');
  });

  it('can be mapped, and opened by many at once while they are fetched', async () => {
    write('mapped ');
    await here.show({ readOnly: true });
    const map = `exec "$1" -c "import mmap,sys; f=open(sys.argv[1],'rb'); g=open(sys.argv[2],'rb'); sys.exit(mmap.mmap(f.fileno(),0,prot=mmap.PROT_READ)[:] != g.read())" "$2" "$3"`;
    const many = Array.from({ length: 20 }, (_, i) =>
      i % 4 === 0 ? shell(map, 'python3', here.at('f'), here.there('f')) : read(),
    );
    for (const one of await Promise.all(many)) expect(one).toBe('');
    expect(await shell(map, 'python3', here.at('f'), here.there('f'))).toBe('');
  });
});
