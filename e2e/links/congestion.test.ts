// SPDX-License-Identifier: MPL-2.0
import { mkdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { builtTool } from '../harness/built-tool.ts';
import { CODE, exitsOf, Sandbox } from '../harness/sandbox.ts';
import { digestOf, writeRandom } from '../harness/tree.ts';

it('a transfer works on a kernel without BBR', async () => {
  const room = await Sandbox.open();
  try {
    await mkdir(room.path('out'));
    await writeRandom(room.path('file'), 8 << 20);
    const under = [builtTool('without_bbr')];
    const { sender } = await room.send(['file'], { under });
    const receiver = await room.start(['receive', CODE, '--yes', '--json', '--out', 'out'], { under });
    expect(await exitsOf({ sender, receiver }), receiver.stderr).toEqual({ sender: 0, receiver: 0 });
    expect(await digestOf(room.path('out', 'file'))).toBe(await digestOf(room.path('file')));
  } finally {
    await room.close();
  }
});
