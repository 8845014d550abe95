// SPDX-License-Identifier: MPL-2.0
import { createHmac } from 'node:crypto';
import { cp, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { HAS_BROWSER, openBrowser } from './browser.ts';
import { OwnDaemon } from './own-daemon.ts';
import { type Asked, PageServer } from './page-server.ts';

let sandbox: Sandbox;
let daemon: OwnDaemon;
let server: PageServer;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await writeFile(sandbox.path('file'), 'content');
  daemon = await OwnDaemon.start(sandbox, 'me');
  server = await PageServer.of(daemon);
});
afterAll(() => sandbox.close());

describe('the HTTP server of the daemon', () => {
  it('answers the same calls as the socket, as JSON', async () => {
    const { status, text, headers } = await server.ask({});
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ pid: daemon.running.pid, page: server.url.host });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['access-control-allow-origin']).toBeUndefined();
    const { id } = await daemon.send({ paths: [sandbox.path('file')] });
    const watched = await server.ask({ path: '/api/Watch', enough: (text) => text.includes('"present') });
    const events = watched.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.find(({ transfer }) => transfer === id).happened.value.state).toBe('waiting');
    expect(
      JSON.parse((await server.ask({ path: '/api/Control', body: `{"transfer":${id},"action":"cancel"}` })).text),
    ).toEqual({
      transfer: expect.objectContaining({ id, state: 'cancelled' }),
    });
  });

  it.each<[string, Asked, number, string]>([
    ['without the token', { headers: { authorization: '' } }, 403, 'DAEMON_REFUSED'],
    ['with another token', { headers: { authorization: `Bearer ${'A'.repeat(43)}` } }, 403, 'DAEMON_REFUSED'],
    ['for another host', { headers: { host: 'evil.example:80' } }, 403, 'DAEMON_REFUSED'],
    ['for localhost by name', { headers: { host: 'localhost' } }, 403, 'DAEMON_REFUSED'],
    ['from a page of another origin', { headers: { origin: 'http://evil.example' } }, 403, 'DAEMON_REFUSED'],
    ['from a page without an origin', { headers: { origin: 'null' } }, 403, 'DAEMON_REFUSED'],
    ['from another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'DAEMON_REFUSED'],
    ['with the content type of a form', { headers: { 'content-type': 'text/plain' } }, 400, 'USAGE'],
    ['by GET', { method: 'GET' }, 400, 'USAGE'],
    ['by OPTIONS', { method: 'OPTIONS' }, 400, 'USAGE'],
    ['for an unknown call', { path: '/api/constructor' }, 400, 'USAGE'],
    ['with malformed JSON', { body: '{' }, 400, 'USAGE'],
    ['with an invalid number', { path: '/api/Control', body: '{"transfer":-1}' }, 400, 'USAGE'],
    ['of a program of another version', { path: '/api/Hello', body: '{"api":1}' }, 422, 'DAEMON_INCOMPATIBLE'],
    ['that is too long', { body: `"${'x'.repeat(7 * 2 ** 20)}"` }, 422, 'TRANSFER_LIMIT_EXCEEDED'],
    ['with invalid arguments', { path: '/api/Send', body: '{"paths":["relative"]}' }, 400, 'USAGE'],
  ])('refuses a request %s', async (_what, asked, status, code) => {
    const refused = await server.ask(asked);
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([status, code]);
  });

  it('is reached through a file that only this user can read, and closes with the daemon', async () => {
    const file = daemon.socket.replace(/sock$/, 'html');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(server.url.href);
  });
});

/** Attacks by a page that even knows the token: by scripts, by a form, and by a script of ours. */
const STRANGER = `async (server, token, ours) => {
  const post = (init) => fetch(server + '/api/Stop', { method: 'POST', body: '{}', ...init });
  const outcome = (made) => made.then(({ type }) => type, () => 'refused');
  const script = Object.assign(document.createElement('script'), { src: server + ours });
  const loaded = new Promise((done) => {
    script.onload = () => done('loaded');
    script.onerror = () => done('refused');
  });
  document.head.append(script);
  const frame = Object.assign(document.createElement('iframe'), { name: 'into' });
  const form = document.createElement('form');
  document.body.append(frame, form);
  Object.assign(form, { method: 'post', action: server + '/api/Stop', target: 'into', enctype: 'text/plain' }).submit();
  return {
    drop: await outcome(fetch(server + '/drop', { method: 'POST', headers: { authorization: 'Bearer ' + token } })),
    withToken: await outcome(post({ headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' } })),
    simple: await outcome(post({ headers: { 'content-type': 'text/plain' } })),
    blind: await outcome(post({ mode: 'no-cors' })),
    script: await loaded,
  };
}`;

describe('the address of the page', () => {
  it('lets a browser in once, by a cookie and a key, and stays the same after the daemon was killed', async () => {
    const lasting = await OwnDaemon.start(sandbox, 'lasting');
    const opened = await PageServer.of(lasting);
    const { host, hash } = opened.url;
    const ticket = new URLSearchParams(hash.slice(1)).get('ticket');
    const enter = { path: '/enter', body: JSON.stringify({ ticket }), headers: { authorization: '' } };
    const entered = await opened.ask(enter);
    expect(entered.status).toBe(200);
    const [cookie = '', ...about] = entered.headers['set-cookie']?.[0]?.split('; ') ?? [];
    expect(about).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'SameSite=Strict']));
    expect((await opened.ask(enter)).status).toBe(403);
    expect((await opened.ask({ ...enter, body: '{}' })).status).toBe(403);
    const { key } = JSON.parse(entered.text);
    const shown = { cookie, authorization: `Bearer ${key}` };
    const status = async (headers: Record<string, string>, at = opened) => (await at.ask({ headers })).status;
    expect(await status(shown)).toBe(200);
    expect(await status({ ...shown, cookie: '' })).toBe(403);
    expect(await status({ cookie, authorization: '' })).toBe(403);
    expect(await status({ cookie, authorization: `Bearer ${ticket}` })).toBe(403);
    const nonce = 'ab'.repeat(16);
    const proof = createHmac('sha256', Buffer.from(key, 'base64url')).update(`keibidrop page ${host} ${nonce}`);
    const asked = { method: 'GET', path: `/proof/${nonce}`, headers: { authorization: '' } };
    expect((await opened.ask(asked)).text).toBe(proof.digest('hex'));
    expect((await opened.ask({ ...asked, path: '/proof/ab' })).status).toBe(400);
    expect((await stat(sandbox.path('lasting', 'state', 'page.json'))).mode & 0o777).toBe(0o600);

    await lasting.replace();
    expect(await status(shown)).toBe(200);
    expect(await status({})).toBe(403);
    const others = [{ origin: 'http://evil.example' }, { host: 'evil.example' }, { 'sec-fetch-site': 'same-site' }];
    for (const foreign of others) expect(await status({ ...shown, ...foreign } as typeof shown)).toBe(403);

    // A program that took the port may have seen the cookie, so the next daemon has new keys as well.
    lasting.running.kill();
    await lasting.running.ended;
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(Number(opened.url.port), '127.0.0.1', resolve));
    await lasting.replace();
    const moved = await PageServer.of(lasting);
    await new Promise((resolve) => squatter.close(resolve));
    expect(moved.url.port).not.toBe(opened.url.port);
    expect(await status(shown, moved)).toBe(403);
    await lasting.replace();
    expect((await PageServer.of(lasting)).url.host).toBe(moved.url.host);
    lasting.running.kill();
  });
});

describe('the page', () => {
  it('comes from one build, and no other file of its folder or above is served', async () => {
    const index = await server.ask({ method: 'GET', path: '/' });
    const [, script = ''] = /src="\.(\/assets\/[^"]+\.js)"/.exec(index.text) ?? [];
    expect(await server.ask({ method: 'GET', path: script, headers: { authorization: '' } })).toMatchObject({
      status: 200,
      headers: expect.objectContaining({
        'content-type': 'text/javascript; charset=utf-8',
        'x-content-type-options': 'nosniff',
      }),
    });
    for (const path of [
      '/assets',
      '/assets/',
      '/../keibidrop.cjs',
      '/assets/../../keibidrop.cjs',
      '/%2e%2e/keibidrop.cjs',
      '/nothing',
    ]) {
      expect((await server.ask({ method: 'GET', path })).status).toBe(404);
    }
    expect((await server.ask({ method: 'PUT', path: script })).status).toBe(405);
  });

  it('says what to do if it was not built', async () => {
    const program = fileURLToPath(new URL('../../apps/cli/dist', import.meta.url));
    await cp(program, sandbox.path('apps', 'cli', 'dist'), {
      recursive: true,
      filter: (path) => !path.endsWith('/page'),
    });
    await symlink(fileURLToPath(new URL('../../native', import.meta.url)), sandbox.path('native'));
    const command = [process.execPath, sandbox.path('apps', 'cli', 'dist', 'keibidrop.cjs')];
    const bare = await OwnDaemon.start(sandbox, 'bare', { command });
    const { text } = await (await PageServer.of(bare)).ask({ method: 'GET', path: '/' });
    expect(text).toContain('scripts/setup');
    bare.running.kill();
  });
});

describe.runIf(HAS_BROWSER)('in a browser', () => {
  it('the page shows events, and no page of another origin can call or read the daemon', async () => {
    // Another page of this machine, under a host name that also resolves to the daemon.
    const other = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello</p>'),
    );
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      const violations: string[] = [];
      page.on(
        'console',
        (message) => void (/content security/i.test(message.text()) && violations.push(message.text())),
      );
      await page.goto(`file://${daemon.socket.replace(/sock$/, 'html')}`);
      await page.getByRole('navigation').getByRole('link', { name: 'Send' }).waitFor();
      expect(page.url()).toContain(`http://${server.url.host}/`);
      expect(page.url()).not.toContain(server.token);
      await daemon.send({ paths: [sandbox.path('file')] });
      await page.getByRole('link', { name: /^Transfers\W*1$/ }).waitFor();
      const ours = await page.evaluate<string>("new URL(document.querySelector('script[src]').src).pathname");

      const stranger = await browser.newPage();
      await stranger.goto(`http://127.0.0.1:${port}/`);
      const posted = stranger.waitForRequest((made) => made.isNavigationRequest() && made.method() === 'POST');
      const tried = await stranger.evaluate(`(${STRANGER})('http://${server.url.host}', '${server.token}', '${ours}')`);
      const refused = 'refused';
      expect(tried).toEqual({ drop: refused, withToken: refused, simple: refused, blind: refused, script: refused });
      await posted;
      expect(violations).toEqual([]);
      expect((await daemon.command('status')).event).toMatchObject({ pid: daemon.running.pid });
    } finally {
      await browser.close();
      other.close();
    }
  });
});
