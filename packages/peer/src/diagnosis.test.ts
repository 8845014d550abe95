// SPDX-License-Identifier: MPL-2.0
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diagnose } from './diagnosis.ts';
import type { Check } from './finding.ts';

const signal = new AbortController().signal;

async function checksOf(options: Partial<Parameters<typeof diagnose>[0]> = {}): Promise<Map<string, Check>> {
  const listen = { host: '127.0.0.1', port: 0, orAnyPort: true };
  const checks = new Map<string, Check>();
  for await (const check of diagnose({
    listen,
    discovery: 'off',
    rendezvous: [],
    savePath: '/tmp',
    signal,
    ...options,
  }))
    checks.set(check.name, check);
  return checks;
}

describe('diagnose', () => {
  it('finds the machine that runs the tests healthy', async () => {
    const checks = await checksOf();
    expect([...checks.values()].filter(({ status }) => status === 'failed')).toEqual([]);
    expect(checks.get('Node.js')?.text).toContain(process.versions.node);
    expect(checks.get('socket buffers')?.text).toMatch(/^hold \d+ MB to send, \d+ MB to receive/);
    expect(checks.get('sealing speed')?.text).toMatch(/aes-256-gcm \d+\.\d GB\/s, chacha20-poly1305 \d+\.\d GB\/s/);
  });

  it('sees that a port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    try {
      const listen = { host: '127.0.0.1', port: address.port, orAnyPort: true };
      const text = `${address.port} is taken; a sender will take any free one (see keibidrop help firewalls)`;
      expect((await checksOf({ listen })).get('port')).toEqual({ name: 'port', status: 'warning', text });
    } finally {
      server.close();
    }
  });

  it('fails on an address that is not of this machine', async () => {
    const listen = { host: '192.0.2.1', port: 0, orAnyPort: true };
    expect((await checksOf({ listen })).get('port')).toMatchObject({ status: 'failed' });
  });

  it('checks the nearest parent of a missing save path', async () => {
    expect((await checksOf({ savePath: join('/tmp', 'not', 'there') })).get('save path')).toMatchObject({
      status: 'ok',
    });
    expect((await checksOf({ savePath: '/proc/self/not-there' })).get('save path')).toMatchObject({ status: 'failed' });
  });

  it('detects that the clock differs from a server’s', async () => {
    const server = createHttpServer((_, response) => {
      response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString());
      response.end('{"host":"127.0.0.1","port":1}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      const { status, text } = (await checksOf({ rendezvous: [`127.0.0.1:${port}`] })).get('clock') ?? {};
      expect(status).toBe('warning');
      expect(text).toMatch(/is 360\d s ahead of the rendezvous/);
    } finally {
      server.close();
    }
  });

  it('names a next step in each finding that is not good', async () => {
    const listen = { host: '192.0.2.1', port: 0, orAnyPort: true };
    const options = { listen, savePath: '/proc/self/not-there', rendezvous: ['127.0.0.1:1'] };
    const findings = [...(await checksOf()).values(), ...(await checksOf(options)).values()];
    const lacking = findings.filter(({ status }) => status !== 'ok');
    expect(new Set(lacking.map(({ name }) => name)).size).toBeGreaterThanOrEqual(6);
    for (const { name, text } of lacking) {
      // Without hardware AES there is nothing to do.
      if (name !== 'native part') expect(text, name).toMatch(/keibidrop help \w+|--[a-z]{3,}|\bsudo |install /);
    }
  });

  it('stops on abort', async () => {
    const reason = new Error('enough');
    await expect(checksOf({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
