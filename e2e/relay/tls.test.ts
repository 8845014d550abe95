// SPDX-License-Identifier: MPL-2.0
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { connect as dial, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Authority, HAS_OPENSSL } from '../harness/authority.ts';
import { CODE, exitsOf, LISTEN, lastOf, Sandbox } from '../harness/sandbox.ts';
import { elsewhere } from '../reach/away.ts';

// A rendezvous over TLS with a certificate of the test's authority.

const CONTENT = 'met by TLS\n';

describe.skipIf(!HAS_OPENSSL)('a rendezvous over TLS (needs openssl)', () => {
  let room: Sandbox;
  let authority: Authority;
  beforeEach(async () => {
    room = await Sandbox.open();
    await writeFile(room.path('file'), CONTENT);
    authority = new Authority(room);
  });
  afterEach(() => room.close());

  async function serve({ cert, key }: { cert: string; key: string }) {
    const server = await room.start(['relay', '--json', ...LISTEN, '--cert', cert, '--key', key]);
    const { port } = await server.until('listening');
    return { server, port: port as number };
  }

  const trust = () => ({ NODE_EXTRA_CA_CERTS: authority.file });

  async function receive(rendezvous: string, env: Record<string, string>, ...args: string[]) {
    const { env: away } = await elsewhere(room);
    const options = { env: { ...away, ...env } };
    return room.receive(['--out', 'out', '--rendezvous', rendezvous, ...args], options);
  }

  it.each([['https'], ['tls']])('lets peers meet by %s://, and its relay is plain on the same port', async (scheme) => {
    const { port } = await serve(await authority.issue('good', 'localhost'));
    const place = `${scheme}://localhost:${port}`;
    const sender = await room.start(
      ['send', 'file', '--json', '--code', CODE, ...LISTEN, '--rendezvous', place, '--relay-only'],
      { env: trust() },
    );
    await sender.until('rendezvous', ({ state }) => state === 'open');
    const receiver = await receive(place, trust(), '--relay-only');
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
    expect((await receiver.until('connected')).path).toBe('relay');
    expect(await readFile(room.path('out', 'file'), 'utf8')).toBe(CONTENT);
  });

  it('lets peers with and without TLS meet', async () => {
    const { port } = await serve(await authority.issue('good', 'localhost'));
    const sender = await room.start(
      ['send', 'file', '--json', '--code', CODE, ...LISTEN, '--rendezvous', `https://localhost:${port}`],
      { env: trust() },
    );
    await sender.until('rendezvous', ({ state }) => state === 'open');
    const receiver = await receive(`127.0.0.1:${port}`, {});
    expect(await exitsOf({ sender, receiver })).toEqual({ sender: 0, receiver: 0 });
  });

  it.each([
    ['of an unknown authority', 'localhost', 1, {}, /NODE_EXTRA_CA_CERTS=FILE/],
    ['for another name', 'other.example', 1, undefined, /for another name/],
    ['that has expired', 'localhost', -1, undefined, /has expired/],
  ])('is rejected with a certificate %s, and the error says what to do', async (_what, host, days, env, advice) => {
    const { port } = await serve(await authority.issue('bad', host, days));
    const receiver = await receive(`https://localhost:${port}`, env ?? trust());
    expect(await receiver.ended).toBe(4);
    expect(lastOf(receiver)).toMatchObject({ code: 'RENDEZVOUS_UNREACHABLE', message: expect.stringMatching(advice) });
  });

  it('is distinguished from a server without TLS', async () => {
    const server = await room.start(['relay', '--json', ...LISTEN]);
    const { port } = await server.until('listening');
    const receiver = await receive(`https://localhost:${port}`, trust());
    expect(await receiver.ended).toBe(4);
    expect(lastOf(receiver)).toMatchObject({ message: expect.stringContaining('Write it as HOST:PORT') });
  });

  it('reloads its certificate when the files change or on SIGHUP, and keeps the old one if the new one is broken', async () => {
    const files = await authority.issue('changing', 'localhost');
    const { server, port } = await serve(files);
    const ca = await readFile(authority.file);
    const serial = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca }, () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        }).once('error', reject);
      });
    const first = await serial();
    const { cert, key } = await authority.issue('next', 'localhost');
    await copyFile(cert, files.cert);
    await copyFile(key, files.key);
    await expect.poll(serial).not.toBe(first);
    const second = await serial();
    await writeFile(files.cert, 'no certificate');
    server.kill('SIGHUP');
    await server.shows(/certificate not read again/);
    expect(await serial()).toBe(second);
  });

  it('stays available while one address stalls handshakes, and counts each handshake it ends', async () => {
    const { port } = await serve(await authority.issue('good', 'localhost'));
    const ca = await readFile(authority.file);
    const begun = (bytes: Buffer) =>
      new Promise<Socket>((resolve, reject) => {
        const socket = dial({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }, () => {
          socket.write(bytes);
          resolve(socket);
        });
        socket.on('error', reject);
      });
    const half = [];
    for (let index = 0; index < 300; index++) half.push(await begun(Buffer.of(0x16, 3, 1, 2, 0)));
    const broken = await begun(Buffer.concat([Buffer.of(0x16, 3, 1, 0, 5), Buffer.alloc(5, 0xff)]));
    await new Promise((resolve) => broken.resume().once('close', resolve));
    const page = (path: string) =>
      new Promise<string>((resolve, reject) => {
        const asked = get({ port, host: '127.0.0.1', servername: 'localhost', path, ca, agent: false }, (answer) =>
          resolve(text(answer)),
        );
        asked.on('error', reject);
      });
    expect(await page('/healthz')).toBe('ok\n');
    const metrics = await page('/metrics');
    expect(metrics).toMatch(/^keibidrop_dropped_total\{reason="tls_crowded_out"\} 23[67]$/m);
    expect(metrics).toMatch(/^keibidrop_dropped_total\{reason="tls_failed"\} 1$/m);
    for (const socket of half) socket.destroy();
  });

  it('needs a certificate and its key', async () => {
    const { cert } = await authority.issue('one', 'localhost');
    const half = await room.start(['relay', '--json', ...LISTEN, '--cert', cert]);
    expect([await half.ended, lastOf(half)?.code]).toEqual([2, 'USAGE']);
    const wrong = await room.start(['relay', '--json', ...LISTEN, '--cert', cert, '--key', cert]);
    expect([await wrong.ended, lastOf(wrong)?.code]).toEqual([2, 'CONFIG_INVALID']);
  });
});
