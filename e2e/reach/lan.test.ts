// SPDX-License-Identifier: MPL-2.0
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inNamespace, Lan } from '../harness/lan.ts';
import type { Running } from '../harness/running.ts';
import { CODE, IS_ROOT, lastOf, run, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { HAS_NFT } from './nat-world.ts';

// Peers that meet by the code alone, on networks of namespaces without a route to the outside.

const CONTENT = 'met on the network\n';
const LISTENER = fileURLToPath(new URL('../harness/goodbye-listener.mjs', import.meta.url));

describe.skipIf(!IS_ROOT)('on a network (needs root, for namespaces)', () => {
  let lan: Lan;
  const sandboxes: Sandbox[] = [];

  beforeEach(() => {
    lan = new Lan();
  });
  afterEach(async () => {
    try {
      for (const sandbox of sandboxes.splice(0)) await sandbox.close();
    } finally {
      lan.close();
    }
  });

  /** A computer, whose programs share no runtime directory with other computers. */
  async function computer(namespace: string) {
    const sandbox = await Sandbox.open();
    sandboxes.push(sandbox);
    const start = (args: string[], options: StartOptions = {}) =>
      sandbox.start(args, { under: inNamespace(namespace), env: { KD_DISCOVERY: 'auto' }, ...options });
    return { sandbox, start };
  }

  async function sender(namespace: string, ...args: string[]): Promise<Running> {
    const { sandbox, start } = await computer(namespace);
    await writeFile(sandbox.path('met.txt'), CONTENT);
    const running = await start(['send', 'met.txt', '--code', CODE, '--json', ...args]);
    await running.until('waiting');
    return running;
  }

  /** Receives with only the code; resolves with the `connected` event. */
  async function receives(namespace: string, ...args: string[]) {
    const { sandbox, start } = await computer(namespace);
    const receiver = await start(['receive', CODE, '--yes', '--json', ...args]);
    expect(await receiver.ended, receiver.stdout + receiver.stderr).toBe(0);
    expect(await readFile(sandbox.path('met.txt'), 'utf8')).toBe(CONTENT);
    return receiver.until('connected');
  }

  it.each([
    ['IPv4 and IPv6', ['10.77.0.1/24', '10.77.0.2/24', '10.77.0.3/24']],
    ['IPv6 alone, link-local', [undefined, undefined, undefined]],
  ])('two receivers meet a sender by %s', async (_what, addresses) => {
    const middle = lan.switch('s');
    const [one = '', two = '', three = ''] = addresses.map((ipv4, i) => {
      const host = lan.host(`h${i}`);
      lan.plug(host, middle, 'eth0', ipv4 === undefined ? {} : { ipv4 });
      return host;
    });
    const offering = await sender(one, '--receivers', '2');
    const connected = await Promise.all([receives(two), receives(three)]);
    expect(connected).toMatchObject([{ path: 'lan' }, { path: 'lan' }]);
    expect(await offering.ended).toBe(0);
    expect(offering.events().filter(({ event }) => event === 'connected')).toMatchObject([
      { path: 'lan' },
      { path: 'lan' },
    ]);
  });

  it('a sender in two networks is met in both, or only in the named one', async () => {
    const [left, right] = [lan.switch('l'), lan.switch('r')];
    const [middle, one, two] = [lan.host('m'), lan.host('h1'), lan.host('h2')];
    lan.plug(middle, left, 'eth0', { ipv4: '10.77.1.1/24' });
    lan.plug(middle, right, 'eth1', { ipv4: '10.77.2.1/24' });
    lan.plug(one, left, 'eth0', { ipv4: '10.77.1.2/24' });
    lan.plug(two, right, 'eth0', { ipv4: '10.77.2.2/24' });
    const both = await sender(middle, '--receivers', '2');
    await receives(one);
    await receives(two);
    expect(await both.ended).toBe(0);

    const leftOnly = await sender(middle, '--receivers', '1', '--discovery', 'eth0');
    const { start } = await computer(two);
    const outside = await start(['receive', CODE, '--yes', '--json']);
    expect(await outside.ended).toBe(4);
    await receives(one);
    expect(await leftOnly.ended).toBe(0);
  });

  it('without multicast, or without a sender, the receiver says so and what to do; the address still works', async () => {
    const middle = lan.switch('s');
    const [one, two] = [lan.host('h1'), lan.host('h2')];
    lan.plug(one, middle, 'eth0', { ipv4: '10.77.0.1/24' });
    lan.plug(two, middle, 'eth0', { ipv4: '10.77.0.2/24', multicast: false });
    const offering = await sender(one, '--receivers', '1');
    const { start } = await computer(two);
    const receiver = await start(['receive', CODE, '--yes', '--json']);
    expect(await receiver.ended).toBe(4);
    expect(receiver.events().map(({ event }) => event)).toEqual(['looking', 'error']);
    expect(lastOf(receiver)).toMatchObject({
      code: 'RENDEZVOUS_NOT_FOUND',
      message: expect.stringMatching(/on this machine or this network.*--connect HOST:PORT/),
    });
    expect(await receives(two, '--connect', '10.77.0.1:26431')).toMatchObject({ path: 'direct' });
    expect(await offering.ended).toBe(0);
  });

  it.skipIf(!HAS_NFT)(
    'a sender behind a firewall is seen but cannot be dialled, and the receiver says so (needs nft)',
    async () => {
      const middle = lan.switch('s');
      const [one, two] = [lan.host('h0'), lan.host('h1')];
      lan.plug(one, middle, 'eth0', { ipv4: '10.77.0.1/24' });
      lan.plug(two, middle, 'eth0', { ipv4: '10.77.0.2/24' });
      const wall =
        'table inet wall { chain in { type filter hook input priority 0; iifname eth0 tcp flags syn reject; }; }';
      run('ip', 'netns', 'exec', one, 'nft', wall);
      const offering = await sender(one);
      const { port } = await offering.until('waiting');
      const { start } = await computer(two);
      const receiver = await start(['receive', CODE, '--yes', '--json']);
      expect(await receiver.ended).toBe(4);
      const { code, message } = lastOf(receiver) as unknown as { code: string; message: string };
      expect(code).toBe('PEER_UNREACHABLE');
      expect(message).toContain(`was heard on this network (mDNS) at`);
      expect(message).toContain(`10.77.0.1:${port}`);
      expect(message).toContain(`Let TCP port ${port} through the sender's firewall`);
      expect(message).not.toContain('No sender is waiting');
    },
  );

  it('without multicast an address given once is found again, unless discovery is off', async () => {
    const middle = lan.switch('s');
    const [one, two] = [lan.host('h1'), lan.host('h2')];
    lan.plug(one, middle, 'eth0', { ipv4: '10.77.0.1/24' });
    lan.plug(two, middle, 'eth0', { ipv4: '10.77.0.2/24', multicast: false });
    const { start } = await computer(two);
    const receive = (...args: string[]) => start(['receive', CODE, '--yes', '--json', '--overwrite', ...args]);
    const offering = await sender(one, '--receivers', '3');
    for (const args of [
      ['--connect', '10.77.0.1:26431', '--discovery', 'off'],
      ['--discovery', 'off'],
    ]) {
      const silent = await receive(...args);
      expect(await silent.ended).toBe(args.includes('--connect') ? 0 : 4);
    }
    const unknown = await receive();
    expect(await unknown.ended).toBe(4);
    const named = await receive('--connect', '10.77.0.1:26431');
    expect(await named.ended).toBe(0);
    const again = await receive();
    expect(await again.ended, again.stdout).toBe(0);
    expect(await again.until('connected')).toMatchObject({ path: 'direct' });
    expect(await offering.ended).toBe(0);
  });

  it('peers lists waiting senders with a working address and without identifying data, until Ctrl-C', async () => {
    const middle = lan.switch('s');
    const [one, two] = [lan.host('h1'), lan.host('h2')];
    lan.plug(one, middle, 'eth0', { ipv4: '10.77.0.1/24' });
    lan.plug(two, middle, 'eth0', { ipv4: '10.77.0.2/24' });
    const offering = await sender(one);
    const { start } = await computer(two);
    const peers = await start(['peers', '--json']);
    expect(await peers.ended).toBe(0);
    const listed = peers.events().filter(({ event }) => event === 'peer');
    expect(listed.map(({ address }) => address).sort()).toEqual([
      '10.77.0.1:26431',
      expect.stringMatching(/^\[fe80::.*%eth0\]:26431$/),
    ]);
    for (const each of listed) {
      expect(each).toEqual({
        event: 'peer',
        path: 'lan',
        name: expect.stringMatching(/^[0-9a-f]{16}$/),
        address: each.address,
      });
    }
    expect(lastOf(peers)).toEqual({ event: 'peers', senders: 1 });

    const records = await start([], { command: [...inNamespace(two), process.execPath, LISTENER, '10.77.0.2'] });
    await records.shows(/listening/);
    offering.kill('SIGINT');
    expect(await offering.ended).toBe(130);
    await records.shows(/goodbye/);
    const nobody = await start(['peers']);
    expect(await nobody.ended).toBe(0);
    expect(nobody.stdout).toBe('No senders nearby.\n');
  });

  it('doctor lists the networks where multicast works, and peers reports a missing interface', async () => {
    const host = lan.host('h');
    lan.plug(host, lan.switch('s'), 'eth0', { ipv4: '10.77.0.1/24' });
    const { start } = await computer(host);
    const doctor = await start(['doctor']);
    expect(await doctor.ended).toBe(0);
    expect(doctor.stdout).toMatch(/^ok {4}multicast +works on eth0 \(IPv4\), eth0 \(IPv6\)$/m);
    const peers = await start(['peers', '--discovery', 'eth9']);
    expect(await peers.ended).toBe(2);
    expect(peers.stderr).toContain('There is no network interface "eth9"');
  });
});
