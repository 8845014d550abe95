// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { buildApp, OwnWindow, until } from './own-window.ts';
import { LACKING, openScreen, type Screen } from './screen.ts';

describe.skipIf(LACKING)(`the window (lacking: ${LACKING || 'nothing'})`, () => {
  let sandbox: Sandbox;
  let screen: Screen;
  let daemon: OwnDaemon;
  let own: OwnWindow;
  let page: Page;
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    let app: string;
    [screen, daemon, app] = await Promise.all([
      openScreen(),
      OwnDaemon.start(sandbox, 'me', { env: { KD_LISTEN: '127.0.0.1:0' } }),
      buildApp(sandbox),
    ]);
    own = await OwnWindow.start(sandbox, { app, screen, config: 'me' });
    page = await own.page();
    await writeFile(sandbox.path('file'), 'content');
    await page.evaluate(() => {
      const intents: unknown[] = [];
      Object.assign(window, { intents });
      window.keibidrop?.onIntent((intent) => intents.push(intent));
    });
  });
  afterAll(async () => {
    await own?.close();
    await sandbox.close();
    screen?.close();
  });

  /** Intents that reached the page since the last call. */
  const intents = () => page.evaluate(() => (window as unknown as { intents: unknown[] }).intents.splice(0));
  const shown = () => own.main.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible());

  it('shows the page, which gets only the functions of the preload, nothing of Node or Electron', async () => {
    expect(page.url()).toMatch(/^keibidrop-app:\/\/window\/index\.html/);
    await page.getByRole('navigation').waitFor();
    const seen = await page.evaluate(() => ({
      bridge: Object.entries(window.keibidrop ?? {}).map(([name, value]) => `${name}: ${typeof value}`),
      others: ['require', 'process', 'module', 'Buffer', 'electron', 'ipcRenderer'].filter((name) => name in window),
    }));
    expect(seen.bridge.sort()).toEqual(
      ['onIntent', 'pathOf', 'request', 'subscribe'].map((name) => `${name}: function`),
    );
    expect(seen.others).toEqual([]);
    const preferences = await own.main.evaluate(({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as { getLastWebPreferences(): object };
      return contents.getLastWebPreferences();
    });
    expect(preferences).toMatchObject({
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
    });
  });

  it('makes calls and streams to the daemon, and ends them', async () => {
    expect(await own.call('status')).toMatchObject({ pid: daemon.running.pid });
    const heard = await page.evaluate(
      () =>
        new Promise<string[]>((resolve) => {
          const events: string[] = [];
          const stop = window.keibidrop?.subscribe(
            'watch',
            { progress: false },
            (replies) => {
              for (const { happened } of replies as { happened: { $case: string } }[]) events.push(happened.$case);
              if (events.includes('present')) {
                stop?.();
                resolve(events);
              }
            },
            () => resolve(['ended']),
          );
        }),
    );
    expect(heard).toEqual(['contacts', 'present']);
    const ended = await page.evaluate(
      () => new Promise((resolve) => window.keibidrop?.subscribe('listShare', { path: 'none' }, () => {}, resolve)),
    );
    expect(ended).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) });
    // A cancelled call ends at once, even while it waits.
    const cancelled = await page.evaluate(async () => {
      const call = window.keibidrop?.request('daemon.call', { call: 77, method: 'nearby' as never, request: {} });
      await window.keibidrop?.request('daemon.cancel', { call: 77 });
      return call;
    });
    expect(cancelled).toMatchObject({ error: { code: 'CANCELLED' } });
  });

  it.each<[string, string, unknown]>([
    ['of unknown name', 'shell.open', {}],
    ["named like an object's own property", 'constructor', {}],
    ['without arguments', 'shell.pick', undefined],
    ['of an unknown kind', 'shell.pick', { what: 'secrets' }],
    ['to reveal a relative path', 'shell.reveal', { path: 'relative' }],
    ['to reveal an address', 'shell.reveal', { path: 'file:///etc/passwd' }],
    ['to reveal a path with a NUL', 'shell.reveal', { path: '/etc\0/passwd' }],
    ['to call a malformed method name', 'daemon.call', { call: 1, method: '../page.js', request: {} }],
    ['to call without a request', 'daemon.call', { call: 1, method: 'status', request: null }],
    ['to call an unknown method', 'daemon.call', { call: 1, method: 'constructor', request: {} }],
    ['to set an unknown preference', 'shell.changePreferences', { theme: 'pink' }],
    ['to set startAtLogin to a string', 'shell.changePreferences', { startAtLogin: 'yes' }],
  ])('refuses a request %s', async (_what, name, args) => {
    const outcome = await page.evaluate(([asked, given]) => window.keibidrop?.request(asked as never, given as never), [
      name,
      args,
    ] as const);
    expect(outcome).toMatchObject({ error: { code: 'USAGE' } });
  });

  it('opens the dialogs of the system, and shows paths in its file manager', async () => {
    await own.main.evaluate(({ dialog, shell }) => {
      const asked: unknown[] = [];
      const chosen = [['/one', '/two'], [], ['/folder']];
      Object.assign(globalThis, { asked });
      dialog.showOpenDialog = (async (_window: unknown, options: unknown) => {
        asked.push(options);
        const filePaths = chosen.shift() ?? [];
        return { canceled: filePaths.length === 0, filePaths };
      }) as never;
      shell.showItemInFolder = (path) => void asked.push(path);
    });
    const request = (name: string, args: object) =>
      page.evaluate(([asked, given]) => window.keibidrop?.request(asked as never, given as never), [
        name,
        args,
      ] as const);
    expect(await request('shell.pick', { what: 'files' })).toEqual({ result: ['/one', '/two'] });
    expect(await request('shell.pick', { what: 'folders' })).toEqual({ result: [] });
    expect(await request('shell.pickFolder', { start: '/start' })).toEqual({ result: '/folder' });
    expect(await request('shell.reveal', { path: sandbox.path('file') })).toEqual({ result: null });
    expect(await own.main.evaluate(() => (globalThis as unknown as { asked: unknown[] }).asked)).toEqual([
      expect.objectContaining({ properties: expect.arrayContaining(['openFile', 'multiSelections']) }),
      expect.objectContaining({ properties: expect.arrayContaining(['openDirectory', 'multiSelections']) }),
      expect.objectContaining({ defaultPath: '/start', properties: expect.arrayContaining(['openDirectory']) }),
      sandbox.path('file'),
    ]);
  });

  it('sends dropped files from where they are', async () => {
    await page.evaluate(() => {
      location.hash = '#/send';
      document.body.append(
        Object.assign(document.createElement('input'), { type: 'file', id: 'drag', multiple: true }),
      );
    });
    await page.setInputFiles('#drag', [sandbox.path('file'), sandbox.path('app', 'main.cjs')]);
    await page.evaluate(() => {
      const input = document.getElementById('drag') as HTMLInputElement;
      const dataTransfer = new DataTransfer();
      for (const file of Array.from(input.files ?? [])) dataTransfer.items.add(file);
      input.remove();
      for (const type of ['dragenter', 'dragover', 'drop']) {
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }
    });
    await page.getByRole('button', { name: 'Create a code' }).click();
    const sent = await daemon.until(
      ({ event, kind, state }) => event === 'transfer' && kind === 'send' && state === 'waiting',
    );
    expect(sent).toMatchObject({ what: 'file, main.cjs' });
    // The journal is written after the event.
    await until(async () => {
      const { entries } = JSON.parse(await readFile(sandbox.path('me', 'state', 'transfers.json'), 'utf8'));
      expect(entries[0].request.paths).toEqual([sandbox.path('file'), sandbox.path('app', 'main.cjs')]);
    });
    await daemon.control(sent.transfer, 'cancel');
  });

  it('opens files and links when the program is started a second time, from any directory', async () => {
    await own.startAgain(['file', 'not-there', 'https://example.org/x']);
    await until(async () => expect(await intents()).toEqual([{ kind: 'send', paths: [sandbox.path('file')] }]));
    await page.waitForURL(/#\/send$/);
    await own.startAgain(['keibidrop://receive/7-guitar-pencil', 'keibidrop://send/etc']);
    await until(async () => expect(await intents()).toEqual([{ kind: 'receive', code: '7-guitar-pencil' }]));
    await page.waitForURL(/#\/receive$/);
  });

  it('shows kind and size of a folder given as an argument', async () => {
    await mkdir(sandbox.path('photos', 'deep'), { recursive: true });
    await writeFile(sandbox.path('photos', 'one'), 'one');
    await writeFile(sandbox.path('photos', 'deep', 'four'), 'four');
    await own.startAgain(['photos']);
    await until(async () => expect(await intents()).toEqual([{ kind: 'send', paths: [sandbox.path('photos')] }]));
    const item = page.getByRole('listitem').filter({ hasText: 'photos' });
    await item.getByText('2 files · 7 bytes').waitFor();
    expect(await item.locator('.lucide-folder').count()).toBe(1);
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  it('hides in the tray when it is closed, and shows when the program is started again', async () => {
    await own.main.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close());
    await until(async () => expect(await shown()).toBe(false));
    await own.startAgain([]);
    await until(async () => expect(await shown()).toBe(true));
    // It is the same page; no state was lost.
    expect(await intents()).toEqual([]);
  });

  it('has a menu with working entries in the preferred language', async () => {
    const choose = (path: string[]) =>
      own.main.evaluate(({ Menu }, labels) => {
        let menu = Menu.getApplicationMenu();
        for (const label of labels.slice(0, -1)) {
          menu = menu?.items.find((item) => item.label === label)?.submenu ?? null;
        }
        const item = menu?.items.find(({ label }) => label === labels[labels.length - 1]);
        item?.click();
        return item?.accelerator;
      }, path);
    expect(await choose(['&Go', 'People'])).toBe('CmdOrCtrl+4');
    await page.waitForURL(/#\/people$/);
    const { result } = (await page.evaluate(() =>
      window.keibidrop?.request('shell.changePreferences', { language: 'de', theme: 'dark' }),
    )) as { result: object };
    expect(result).toEqual({ theme: 'dark', language: 'de', closeToTray: true, startAtLogin: false });
    expect(await choose(['&Gehe zu', 'Einstellungen'])).toBe('CmdOrCtrl+,');
    await page.waitForURL(/#\/settings$/);
    expect(await own.main.evaluate(({ nativeTheme }) => nativeTheme.themeSource)).toBe('dark');
  });

  it('saves preferences and its position, and starts at login', async () => {
    const change = (changes: object) =>
      page.evaluate((each) => window.keibidrop?.request('shell.changePreferences', each), changes);
    const entry = sandbox.path('me-home', 'autostart', 'keibidrop.desktop');
    await change({ startAtLogin: true });
    expect(await readFile(entry, 'utf8')).toMatch(/^Exec=".*" "--hidden"$/m);
    expect(await change({ startAtLogin: false })).toMatchObject({ result: { startAtLogin: false } });
    await expect(readFile(entry)).rejects.toMatchObject({ code: 'ENOENT' });
    await own.main.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0]?.setBounds({ x: 50, y: 60, width: 900, height: 640 }),
    );
    await until(async () => {
      const kept = JSON.parse(await readFile(sandbox.path('me', 'desktop', 'window.json'), 'utf8'));
      expect(kept).toMatchObject({
        theme: 'dark',
        language: 'de',
        place: { width: 900, height: 640, maximized: false },
      });
    });
  });

  describe('is isolated', () => {
    let server: Server;
    let stranger: string;
    const asked: (string | undefined)[] = [];
    beforeAll(async () => {
      server = createServer(({ url }, response) => {
        asked.push(url);
        response
          .writeHead(200, { 'content-type': 'text/html', 'access-control-allow-origin': '*' })
          .end('<p>hello</p>');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      stranger = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => server.close());

    it('loads nothing from other origins, stays at its address, opens no window and gets no permission', async () => {
      const windows = () => own.main.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length);
      const tried = await page.evaluate(async (url) => {
        const hangs = new Promise((resolve) => setTimeout(resolve, 5000)).then(() => 'hangs');
        const outcome = (made: Promise<unknown>) =>
          Promise.race([hangs, made]).then(
            () => 'done',
            () => 'refused',
          );
        const loaded = (element: HTMLElement, attributes: object) =>
          new Promise<void>((resolve, reject) => {
            Object.assign(element, attributes, { onload: () => resolve(), onerror: reject });
            document.body.append(element);
          });
        const inline = Object.assign(document.createElement('script'), { textContent: 'window.inlined = true' });
        document.body.append(inline, Object.assign(document.createElement('iframe'), { src: `${url}/frame` }));
        const evaluated = () => new Function('return 1')();
        const results = {
          fetch: await outcome(fetch(`${url}/fetch`)),
          image: await outcome(loaded(document.createElement('img'), { src: `${url}/image` })),
          script: await outcome(loaded(document.createElement('script'), { src: `${url}/script` })),
          inline: 'inlined' in window,
          evaluated: await outcome(Promise.resolve().then(evaluated)),
          microphone: await outcome(navigator.mediaDevices.getUserMedia({ audio: true })),
          notification: await Promise.race([hangs, Notification.requestPermission()]),
        };
        location.href = `${url}/navigation`;
        return results;
      }, stranger);
      expect(tried).toEqual({
        fetch: 'refused',
        image: 'refused',
        script: 'refused',
        inline: false,
        evaluated: 'refused',
        microphone: 'refused',
        notification: 'denied',
      });
      expect(page.url()).toMatch(/^keibidrop-app:/);
      // In old Electron the page hangs in window.open when the window is refused.
      const version = await own.main.evaluate(() => Number.parseInt(process.versions.electron ?? '', 10));
      if (version >= 12) await page.evaluate((url) => window.open(`${url}/window`), stranger);
      expect(await windows()).toBe(1);
      expect(asked).toEqual([]);
    });

    it('accepts no call from another page, whatever its window', async () => {
      const answers = await own.main.evaluate(async ({ BrowserWindow, session }, url) => {
        // This window has our preload, but a session of its own that allows any address.
        const [ours] = BrowserWindow.getAllWindows();
        const contents = ours?.webContents as unknown as { getLastWebPreferences(): { preload: string } };
        const { preload } = contents.getLastWebPreferences();
        const ask = `keibidrop.request('daemon.call', { call: 1, method: 'status', request: {} })`;
        const open = async (address: string) => {
          const other = new BrowserWindow({
            show: false,
            webPreferences: { preload, sandbox: true, contextIsolation: true, session: session.fromPartition('other') },
          });
          await other.loadURL(address);
          const answer = await other.webContents.executeJavaScript(ask);
          const seen = await other.webContents.executeJavaScript(
            `Promise.race([new Promise((done) => keibidrop.subscribe('watch', {}, done, done)), ${ask}])`,
          );
          other.destroy();
          return [answer, seen];
        };
        return [...(await open(`${url}/page`)), ...(await open('data:text/html,<p>hello</p>'))];
      }, stranger);
      const refused = { error: { code: 'USAGE', message: 'This is not a page of KeibiDrop.' } };
      expect(answers).toEqual([refused, refused, refused, refused]);
    });

    it('accepts no call from another page in its own window', async () => {
      const answer = await own.main.evaluate(async ({ BrowserWindow }) => {
        const [ours] = BrowserWindow.getAllWindows();
        const address = ours?.webContents.getURL() ?? '';
        await ours?.loadURL('data:text/html,<p>hello</p>');
        const ask = `keibidrop.request('daemon.call', { call: 1, method: 'status', request: {} })`;
        const given = await ours?.webContents.executeJavaScript(ask);
        await ours?.loadURL(address);
        return given;
      });
      expect(answer).toMatchObject({ error: { code: 'USAGE', message: 'This is not a page of KeibiDrop.' } });
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      expect(await own.call('status')).toMatchObject({ pid: daemon.running.pid });
    });
  });
});
