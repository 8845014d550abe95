// SPDX-License-Identifier: MPL-2.0
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inNamespace, Lan } from '../harness/lan.ts';
import { CODE, exitsOf, IS_ROOT, LISTEN, lastOf, run, Sandbox } from '../harness/sandbox.ts';
import { elsewhere, type RelayServer, receiveAt, sendAt, startRelay } from './away.ts';

let room: Sandbox;
let relay: RelayServer;
beforeEach(async () => {
  room = await Sandbox.open();
  relay = await startRelay(room);
  await writeFile(room.path('file'), 'content');
});
afterEach(() => room.close());

describe('a sender that waits at a rendezvous', () => {
  it('counts wrong codes there and on this machine together', async () => {
    const sender = await sendAt(relay.address, room, ['file']);
    const guess = async (away: boolean) => {
      const options = away ? await elsewhere(room) : {};
      const guest = await room.start(
        ['receive', '7-wrong-words', '--yes', '--json', '--rendezvous', relay.address],
        options,
      );
      return { exit: await guest.ended, code: lastOf(guest)?.code };
    };
    const wrong = { exit: 3, code: 'CODE_WRONG' };
    expect([await guess(true), await guess(false), await guess(true)]).toEqual([wrong, wrong, wrong]);
    expect(await sender.ended).toBe(3);
    expect(lastOf(sender)).toMatchObject({ event: 'error', code: 'CODE_EXHAUSTED' });
    expect(sender.events().flatMap(({ event, remaining }) => (event === 'wrongCode' ? [remaining] : []))).toEqual([
      2, 1,
    ]);
  });

  it('is found there again after the server was killed and restarted', async () => {
    const sender = await sendAt(relay.address, room, ['file']);
    relay.server.kill();
    expect(await sender.until('rendezvous', ({ state }) => state === 'lost')).toMatchObject({ address: relay.address });
    const down = await receiveAt(relay.address, room);
    expect(await down.ended).toBe(4);
    expect(lastOf(down)?.code).toBe('RENDEZVOUS_UNREACHABLE');
    await startRelay(room, relay.port);
    const opened = () =>
      sender.events().filter(({ event, state }) => event === 'rendezvous' && state === 'open').length;
    await sender.until('rendezvous', () => opened() === 2);
    const receiver = await receiveAt(relay.address, room);
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
  });

  it('waits without it if it is down, says so, and is met on this machine', async () => {
    relay.server.kill();
    await relay.server.ended;
    const sender = await room.start([
      'send',
      'file',
      '--json',
      '--code',
      CODE,
      ...LISTEN,
      '--rendezvous',
      relay.address,
    ]);
    expect(await sender.until('rendezvous')).toMatchObject({
      state: 'lost',
      message: expect.stringContaining(relay.address),
    });
    const receiver = await room.receive(['--out', 'out', '--rendezvous', relay.address]);
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
  });

  it('fails with a clear error if another sender uses the number of its --code', async () => {
    await sendAt(relay.address, room, ['file']);
    const late = await room.start(
      ['send', 'file', '--json', '--code', '7-orbit-walnut', ...LISTEN, '--rendezvous', relay.address],
      await elsewhere(room),
    );
    expect(await late.ended).toBe(4);
    expect(late.events()).toEqual([
      { event: 'error', code: 'RENDEZVOUS_BUSY', message: expect.stringMatching(/another/i) },
    ]);
  });

  it('announces only the relay with --relay-only, so that it cannot be dialled', async () => {
    const sender = await sendAt(relay.address, room, ['file', '--relay-only']);
    const { port } = await sender.until('waiting');
    const named = await room.receive(['--out', 'out', '--connect', `127.0.0.1:${port}`]);
    expect(await named.ended).toBe(4);
    expect(await room.announced()).toEqual([]);
  });
});

it.skipIf(!IS_ROOT)(
  'a rendezvous that advertises a relay on loopback leads no peer to its own ports (needs root)',
  async () => {
    const lan = new Lan();
    try {
      const host = lan.host('h');
      run('ip', 'netns', 'exec', host, 'ip', 'address', 'add', '203.0.113.1/32', 'dev', 'lo');
      const under = inNamespace(host);
      const at = ['--listen', '203.0.113.1:26431', '--advertise', '127.0.0.1:9200'];
      const server = await room.start(['relay', ...at, '--json'], { under });
      await server.until('listening');
      const common = ['--rendezvous', '203.0.113.1:26431', '--json'];
      const sender = await room.start(['send', 'file', '--code', CODE, ...LISTEN, ...common], { under });
      const { message } = await sender.until('warning');
      expect(message).toContain('names a relay at 127.0.0.1:9200, which is neither its own host nor a public address');
      expect(await sender.until('rendezvous')).toMatchObject({ state: 'open', relay: false });
      const relayed = await room.start(['send', 'file', '--code', '8-guitar-pencil', '--relay-only', ...common], {
        under,
      });
      expect(await relayed.ended).toBe(4);
      expect(relayed.events().at(-1)).toMatchObject({
        code: 'PEER_UNREACHABLE',
        message: expect.stringContaining('127.0.0.1:9200'),
      });
    } finally {
      await room.close();
      lan.close();
    }
  },
);
