// SPDX-License-Identifier: MPL-2.0
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { HAS_BROWSER, openBrowser } from './browser.ts';
import { OwnDaemon } from './own-daemon.ts';

let sandbox: Sandbox;
let daemon: OwnDaemon;
let url: URL;
let token: string;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await writeFile(sandbox.path('file'), 'content');
  daemon = await OwnDaemon.start(sandbox, 'me');
  const { event } = await daemon.command('ui');
  url = new URL(event.url as string);
  token = new URLSearchParams(url.hash.slice(1)).get('token') ?? '';
});
afterAll(() => sandbox.close());

interface Asked {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** One request of what is no browser, so that it may say what it likes. */
function ask({ method = 'POST', path = '/api/Status', headers = {}, body = '{}' }: Asked) {
  const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const asked = request({ host: url.hostname, port: url.port, method, path, headers: all }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        // A stream does not end by itself.
        if (path === '/api/Watch' && text.includes('"present')) response.destroy();
      });
      response.on('close', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    asked.on('error', reject);
    asked.end(method === 'POST' ? body : undefined);
  });
}

describe('the HTTP door', () => {
  it('answers the calls of the socket, as JSON', async () => {
    const { status, text, headers } = await ask({});
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ pid: daemon.running.pid, page: url.host });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['access-control-allow-origin']).toBeUndefined();
    const { id } = await daemon.send({ paths: [sandbox.path('file')] });
    const watched = await ask({ path: '/api/Watch' });
    const events = watched.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.find(({ transfer }) => transfer === id).json).toContain('"state":"waiting"');
    expect(
      JSON.parse((await ask({ path: '/api/Control', body: `{"transfer":${id},"action":"cancel"}` })).text),
    ).toEqual({
      transfer: expect.objectContaining({ id, state: 'cancelled' }),
    });
  });

  it.each<[string, Asked, number, string]>([
    ['without the token', { headers: { authorization: '' } }, 403, 'DAEMON_REFUSED'],
    ['with another token', { headers: { authorization: `Bearer ${'A'.repeat(43)}` } }, 403, 'DAEMON_REFUSED'],
    ['for another host', { headers: { host: 'evil.example:80' } }, 403, 'DAEMON_REFUSED'],
    ['for this machine by its name', { headers: { host: 'localhost' } }, 403, 'DAEMON_REFUSED'],
    ['of a page of another origin', { headers: { origin: 'http://evil.example' } }, 403, 'DAEMON_REFUSED'],
    ['of a page without one', { headers: { origin: 'null' } }, 403, 'DAEMON_REFUSED'],
    ['of another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'DAEMON_REFUSED'],
    ['as a form would make it', { headers: { 'content-type': 'text/plain' } }, 400, 'USAGE'],
    ['to read', { method: 'GET' }, 400, 'USAGE'],
    ['to ask what it may', { method: 'OPTIONS' }, 400, 'USAGE'],
    ['of no call', { path: '/api/constructor' }, 400, 'USAGE'],
    ['of no JSON', { body: '{' }, 400, 'USAGE'],
    ['of no number', { path: '/api/Control', body: '{"transfer":-1}' }, 400, 'USAGE'],
    ['too long', { body: `"${'x'.repeat(7 * 2 ** 20)}"` }, 422, 'TRANSFER_LIMIT_EXCEEDED'],
    ['with what it refuses', { path: '/api/Send', body: '{"paths":["relative"]}' }, 400, 'USAGE'],
  ])('refuses a request %s', async (_what, asked, status, code) => {
    const refused = await ask(asked);
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([status, code]);
  });

  it('is led to by a file of this user alone, and closes with the daemon', async () => {
    const file = daemon.socket.replace(/sock$/, 'html');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(url.href);
  });
});

/** What a page tries that has even learned the token: by scripts, by a form, by a script of ours. */
const STRANGER = `async (door, token) => {
  const post = (init) => fetch(door + '/api/Stop', { method: 'POST', body: '{}', ...init });
  const outcome = (made) => made.then(({ type }) => type, () => 'refused');
  const script = Object.assign(document.createElement('script'), { src: door + '/page.js' });
  const loaded = new Promise((done) => {
    script.onload = () => done('loaded');
    script.onerror = () => done('refused');
  });
  document.head.append(script);
  const frame = Object.assign(document.createElement('iframe'), { name: 'into' });
  const form = document.createElement('form');
  document.body.append(frame, form);
  Object.assign(form, { method: 'post', action: door + '/api/Stop', target: 'into', enctype: 'text/plain' }).submit();
  return {
    withToken: await outcome(post({ headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' } })),
    simple: await outcome(post({ headers: { 'content-type': 'text/plain' } })),
    blind: await outcome(post({ mode: 'no-cors' })),
    script: await loaded,
  };
}`;

describe.runIf(HAS_BROWSER)('in a browser', () => {
  it('the page shows what happens, and nothing of another origin can call or read the daemon', async () => {
    // Another page of this machine, with a name of its own that leads to the daemon, too.
    const other = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello</p>'),
    );
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`file://${daemon.socket.replace(/sock$/, 'html')}`);
      await page.getByText(`process ${daemon.running.pid}`).waitFor();
      expect(page.url()).toBe(`http://${url.host}/`);
      await daemon.send({ paths: [sandbox.path('file')] });
      await page.getByRole('cell', { name: 'waiting' }).first().waitFor();

      const stranger = await browser.newPage();
      await stranger.goto(`http://127.0.0.1:${port}/`);
      const posted = stranger.waitForRequest((made) => made.isNavigationRequest() && made.method() === 'POST');
      const tried = await stranger.evaluate(`(${STRANGER})('http://${url.host}', '${token}')`);
      expect(tried).toEqual({ withToken: 'refused', simple: 'refused', blind: 'refused', script: 'refused' });
      await posted;
      expect((await daemon.command('status')).event).toMatchObject({ pid: daemon.running.pid });
    } finally {
      await browser.close();
      other.close();
    }
  });
});
