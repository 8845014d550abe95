// SPDX-License-Identifier: MPL-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endSilence, inNamespace, Lan, type Plug, readdress, setCable, silence, withoutIpv6 } from '../harness/lan.ts';
import type { Running } from '../harness/running.ts';
import { CODE, exitsOf, IS_ROOT, lastOf, Sandbox } from '../harness/sandbox.ts';
import { digestOf, writeRandom } from '../harness/tree.ts';

// Network faults during a transfer, between two computers (namespaces) of one network. No command is typed a second
// time.

const MIB = 1 << 20;
const SIZE = 16 * MIB;
const WELL = { sender: 0, receiver: 0 };
const SOAK = process.env.KD_SOAK === '1';
const LONGEST_MS = 900_000;

describe.skipIf(!IS_ROOT)('a transfer survives (needs root, for namespaces)', () => {
  let lan: Lan;
  let rooms: Sandbox[];
  let plugs: Record<'sender' | 'receiver', Plug>;
  let hosts: Record<'sender' | 'receiver', string>;
  beforeEach(async () => {
    lan = new Lan();
    const middle = lan.switch('s');
    hosts = { sender: lan.host('a'), receiver: lan.host('b') };
    // Without this, IPv6 would continue where IPv4 is lost.
    for (const host of Object.values(hosts)) withoutIpv6(host);
    plugs = {
      sender: lan.plug(hosts.sender, middle, 'eth0', { ipv4: '10.77.0.1/24' }),
      receiver: lan.plug(hosts.receiver, middle, 'eth0', { ipv4: '10.77.0.2/24' }),
    };
    rooms = await Promise.all([Sandbox.open(), Sandbox.open()]);
  });
  afterEach(async () => {
    try {
      for (const room of rooms) await room.close();
    } finally {
      lan.close();
    }
  });

  /** Starts both sides and waits for the first chunks. @param heartbeatMs  a silence is noticed after four of them */
  async function begin({ heartbeatMs = 5000, rate = '8M' } = {}): Promise<{ sender: Running; receiver: Running }> {
    const [here, there] = rooms as [Sandbox, Sandbox];
    await writeRandom(here.path('file'), SIZE);
    const env = { KD_DISCOVERY: 'auto', KD_PATIENCE: '30m', KD_HEARTBEAT_MS: `${heartbeatMs}` };
    const send = ['send', 'file', '--code', CODE, '--json', '--limit', rate];
    const sender = await here.start(send, { under: inNamespace(hosts.sender), env, timeoutMs: LONGEST_MS });
    await sender.until('waiting');
    const receive = ['receive', CODE, '--yes', '--json'];
    const receiver = await there.start(receive, { under: inNamespace(hosts.receiver), env, timeoutMs: LONGEST_MS });
    await receiver.until('progress', ({ bytes }) => (bytes as number) >= 4 * MIB);
    return { sender, receiver };
  }

  /** @returns how many times they connected */
  async function end({ sender, receiver }: { sender: Running; receiver: Running }): Promise<number> {
    expect(await exitsOf({ sender, receiver }), receiver.stdout + sender.stdout).toEqual(WELL);
    const [here, there] = rooms as [Sandbox, Sandbox];
    expect(await digestOf(there.path('file'))).toBe(await digestOf(here.path('file')));
    expect(lastOf(receiver)).toMatchObject({ event: 'done', files: 1, bytes: SIZE, resumedBytes: 0, skipped: 0 });
    expect(lastOf(sender)).toMatchObject({ event: 'done', files: 1, bytes: SIZE, resumedBytes: 0, skipped: 0 });
    return receiver.events().filter(({ event }) => event === 'connected').length;
  }

  it('an outage that both sides notice, over new connections', async () => {
    const both = await begin({ heartbeatMs: 300 });
    silence(plugs.receiver);
    await both.receiver.until('reconnecting');
    expect(await both.sender.until('receiverLost')).toMatchObject({ code: 'SESSION_LOST', mayReturn: true });
    // The first retry falls into the outage.
    await sleep(1000);
    endSilence(plugs.receiver);
    expect(await end(both)).toBeGreaterThan(1);
  });

  it('an unplugged cable, and reconnects as soon as it is plugged in', async () => {
    const both = await begin();
    setCable(plugs.receiver, 'down');
    const second = await both.receiver.until('reconnecting', ({ attempt }) => attempt === 2);
    expect(second).toMatchObject({ reason: 'This computer has left the network.' });
    setCable(plugs.receiver, 'up');
    expect(await end(both)).toBe(2);
  });

  it('a new address of the receiver, which resumes before its old session is missed', {
    timeout: 60_000,
  }, async () => {
    const both = await begin();
    readdress(hosts.receiver, 'eth0', ['10.77.0.2/24', '10.77.0.9/24']);
    expect(await end(both)).toBe(2);
    expect(both.sender.events().filter(({ event }) => event === 'receiverLost')).toEqual([]);
  });

  it('a new address of the sender, which is found again', async () => {
    const both = await begin({ heartbeatMs: 300 });
    readdress(hosts.sender, 'eth0', ['10.77.0.1/24', '10.77.0.8/24']);
    expect(await end(both)).toBeGreaterThan(1);
  });

  it('a receiver that sleeps until it is missed', async () => {
    const both = await begin({ heartbeatMs: SOAK ? 5000 : 300 });
    both.receiver.kill('SIGSTOP');
    if (SOAK) await sleep(20_000);
    await both.sender.until('receiverLost');
    both.receiver.kill('SIGCONT');
    expect(await end(both)).toBe(2);
  });
});
