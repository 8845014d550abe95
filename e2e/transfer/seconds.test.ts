// SPDX-License-Identifier: MPL-2.0
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exitsOf, lastOf, Sandbox } from '../harness/sandbox.ts';

const HELD_MS = 2000;

let room: Sandbox;
let proxy: Server | undefined;
beforeEach(async () => {
  room = await Sandbox.open();
  await writeFile(room.path('file'), 'content');
});
afterEach(async () => {
  proxy?.close();
  await room.close();
});

/** Forwards to `port`, and delays each connection by `heldMs`. */
async function slowProxyTo(port: number, heldMs: number): Promise<number> {
  const server = createServer((socket) => {
    const onward = () => {
      const target = connect(port, '127.0.0.1');
      const end = (...both: Socket[]) => both.forEach((each) => void each.destroy());
      for (const each of [socket, target]) each.on('error', () => end(socket, target));
      socket.pipe(target).pipe(socket);
    };
    setTimeout(onward, heldMs);
  });
  proxy = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

it('counts the seconds of `done` from the start of the session, not of the command', async () => {
  const { sender, port } = await room.send(['file']);
  const slow = await slowProxyTo(port, HELD_MS);
  const began = performance.now();
  const receiver = await room.receive(['--out', 'out', '--connect', `127.0.0.1:${slow}`]);
  expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
  const { seconds } = lastOf(receiver) as unknown as { seconds: number };
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan((performance.now() - began - HELD_MS) / 1000);
});
