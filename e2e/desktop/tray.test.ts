// SPDX-License-Identifier: MPL-2.0
import { readFile, truncate, writeFile } from 'node:fs/promises';
import type { Menu, Notification as SystemNotification } from 'electron';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { OwnDesktop } from './own-desktop.ts';
import { buildApp, OwnWindow, until } from './own-window.ts';
import { LACKING, openScreen, type Screen } from './screen.ts';

/**
 * Output of the main process that no test can see; wrappers that `listen` puts around Electron's own classes record it.
 */
interface Seen {
  menu: Menu;
  notices: SystemNotification[];
  progress: number[];
  badge: number;
}

const ON_LOOPBACK = { env: { KD_LISTEN: '127.0.0.1:0' } };

describe.skipIf(LACKING)(`the tray (lacking: ${LACKING || 'nothing'})`, () => {
  let sandbox: Sandbox;
  let screen: Screen;
  let me: OwnDaemon;
  let anna: OwnDaemon;
  let own: OwnWindow;
  let desktop: OwnDesktop;
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    let app: string;
    [screen, desktop, me, anna, app] = await Promise.all([
      openScreen(),
      OwnDesktop.open(),
      OwnDaemon.start(sandbox, 'me', ON_LOOPBACK),
      OwnDaemon.start(sandbox, 'anna', ON_LOOPBACK),
      buildApp(sandbox),
    ]);
    await writeFile(sandbox.path('file'), 'content');
    await Promise.all([me.know('Anna', anna), anna.know('Me & <b>', me)]);
    own = await OwnWindow.start(sandbox, {
      app,
      screen,
      config: 'me',
      env: { DBUS_SESSION_BUS_ADDRESS: desktop.address },
    });
    await own.page();
    await listen();
  });
  afterAll(async () => {
    await own?.close();
    await sandbox.close();
    screen?.close();
    desktop?.close();
  });

  async function listen(): Promise<void> {
    await own.main.evaluate(({ app, BrowserWindow, Notification, Tray }) => {
      const seen = { notices: [], progress: [], badge: 0 } as unknown as Seen;
      Object.assign(globalThis, { seen });
      const setMenu = Tray.prototype.setContextMenu;
      Tray.prototype.setContextMenu = function (menu) {
        seen.menu = menu as Menu;
        setMenu.call(this, menu);
      };
      Notification.isSupported = () => true;
      Notification.prototype.show = function () {
        seen.notices.push(this);
      };
      BrowserWindow.prototype.setProgressBar = (share) => void seen.progress.push(share);
      app.setBadgeCount = (count) => {
        seen.badge = count ?? 0;
        return true;
      };
      // The window is closed, so notifications show.
      for (const window of BrowserWindow.getAllWindows()) window.close();
    });
  }

  /** The labels of the enabled entries of a tray menu. */
  const labels = (...path: string[]) =>
    own.main.evaluate((_electron, folders) => {
      let { menu } = (globalThis as unknown as { seen: Seen }).seen;
      for (const folder of folders) menu = menu?.items.find(({ label }) => label === folder)?.submenu as Menu;
      return menu?.items.filter(({ enabled, type }) => enabled && type !== 'separator').map(({ label }) => label) ?? [];
    }, path);
  /** The first entry, which is disabled. */
  const head = () =>
    own.main.evaluate(() => (globalThis as unknown as { seen: Seen }).seen.menu?.items[0]?.label ?? '');
  const choose = (...path: string[]) =>
    own.main.evaluate((_electron, chosen) => {
      let { menu } = (globalThis as unknown as { seen: Seen }).seen;
      for (const label of chosen.slice(0, -1)) menu = menu.items.find((item) => item.label === label)?.submenu as Menu;
      menu.items.find(({ label }) => label === chosen[chosen.length - 1])?.click();
    }, path);
  /** Titles and texts of the notifications since the last call. */
  const notices = () =>
    own.main.evaluate(() => {
      const { seen } = globalThis as unknown as { seen: Seen };
      return seen.notices.map(({ title, body, actions }) => ({
        title,
        body,
        actions: actions.map(({ text }) => text),
      }));
    });
  it('shows its state in the preferred language', async () => {
    const prefer = async (language: 'de' | 'es' | 'en') =>
      (await own.page()).evaluate(
        (chosen) => window.keibidrop?.request('shell.changePreferences', { language: chosen }),
        language,
      );
    await prefer('de');
    await until(async () => expect(await head()).toBe('Keine Übertragung läuft'));
    await until(async () => expect(await labels('Dateien senden')).toEqual(['Anna', 'Mit einem Code …']));
    await prefer('es');
    await until(async () => expect(await head()).toBe('Sin transferencias en marcha'));
    await prefer('en');
    await until(async () => expect(await head()).toBe('No transfers running'));
    expect(await labels()).toEqual([
      'Send files',
      'Send a folder',
      'Send the clipboard text',
      'Receive…',
      'Open KeibiDrop',
      'Quit',
    ]);
  });

  it('sends files to a contact: choose files, and they arrive', async () => {
    await own.main.evaluate(({ dialog }, path) => {
      dialog.showOpenDialog = (async () => ({ canceled: false, filePaths: [path] })) as never;
    }, sandbox.path('file'));
    await choose('Send files', 'Anna');
    const { question } = await anna.until(({ event }) => event === 'question');
    await until(async () =>
      expect(await notices()).toContainEqual({ title: 'Sending to Anna', body: 'file', actions: [] }),
    );
    const received = anna.until(
      ({ event, kind, state }) => event === 'transfer' && kind === 'receive' && state === 'done',
    );
    const request = { question: question as number, answer: 'yes' };
    await (await anna.own()).call('answer', request, { signal: anna.signal });
    const { place } = await received;
    expect(await readFile(`${place}/file`, 'utf8')).toBe('content');
    await until(async () =>
      expect(await notices()).toContainEqual({ title: 'Sent file', body: 'To Anna', actions: [] }),
    );
  });

  it('sends the clipboard text to a contact, or by a code that the window shows', async () => {
    const request = { name: 'Me & <b>', rule: 'accept', folder: sandbox.path('inbox') };
    await (await anna.own()).call('changeContact', request, { signal: anna.signal });
    const received = anna.until(
      ({ event, state, text }) => event === 'transfer' && state === 'done' && text !== undefined,
    );
    await own.main.evaluate(({ clipboard }) => clipboard.writeText('Grüße 📋'));
    await choose('Send the clipboard text', 'Anna');
    expect(await received).toMatchObject({ text: 'Grüße 📋' });
    await choose('Send the clipboard text', 'With a code…');
    await (await own.page()).waitForURL(/#\/transfers\/\d+$/);
    await me.until(({ event, state, code }) => event === 'transfer' && state === 'waiting' && code !== undefined);
    await own.main.evaluate(({ BrowserWindow, clipboard }) => {
      for (const window of BrowserWindow.getAllWindows()) window.close();
      clipboard.clear();
    });
    await choose('Send the clipboard text', 'Anna');
    await until(async () =>
      expect(await notices()).toContainEqual({ title: 'There is no text on the clipboard', body: '', actions: [] }),
    );
  });

  it('pauses and resumes all transfers', async () => {
    const states = async () =>
      (await own.call<{ transfers: { state: string }[] }>('transfers')).transfers.map(({ state }) => state);
    await until(async () => expect(await labels()).toContain('Pause all'));
    expect(await states()).toContain('waiting');
    await choose('Pause all');
    await until(async () => expect(await states()).toContain('paused'));
    await until(async () => expect(await labels()).toContain('Resume all'));
    expect(await labels()).not.toContain('Pause all');
    await choose('Resume all');
    await until(async () => expect(await states()).toContain('waiting'));
    const { transfers } = await own.call<{ transfers: { id: number; state: string }[] }>('transfers');
    for (const { id, state } of transfers) {
      if (state === 'waiting') await me.control(id, 'cancel');
    }
  });

  it('shows progress in the menu and on the window', async () => {
    await writeFile(sandbox.path('large'), '');
    await truncate(sandbox.path('large'), 64 * 2 ** 20);
    await writeFile(sandbox.path('large'), Buffer.alloc(64 * 2 ** 20, 'x'));
    const request = { paths: [sandbox.path('large')], to: ['Anna'], reach: { limit: 16 * 2 ** 20 } };
    const { transfer } = await own.call<{ transfer: { id: number } }>('send', request);
    await until(async () => expect(await head()).toMatch(/^1 transfer is running – [1-9]\d?\s?%$/));
    expect(await labels()).toContainEqual(expect.stringMatching(/^Sending large to Anna – \d+\s?%$/));
    const progress = () => own.main.evaluate(() => (globalThis as unknown as { seen: Seen }).seen.progress);
    expect((await progress()).some((share) => share > 0 && share < 1)).toBe(true);
    await me.control(transfer.id, 'cancel');
    await until(async () => expect((await progress()).slice(-1)).toEqual([-1]));
    await until(async () => expect(await head()).toBe('No transfers running'));
  });

  it('asks in a notification, whose buttons answer and whose click opens the window', async () => {
    const title = 'Anna wants to send you files';
    const send = async () => {
      const request = { paths: [sandbox.path('file')], to: ['Me & <b>'] };
      return (await (await anna.own()).call('send', request, { signal: anna.signal })).transfer?.id ?? 0;
    };
    const asked = (times: number) =>
      until(async () => expect(desktop.shown.filter((notice) => notice.title === title)).toHaveLength(times));
    // A desktop that shows no buttons gets none.
    desktop.showsButtons = false;
    const without = await send();
    await until(async () => expect(await notices()).toContainEqual(expect.objectContaining({ title, actions: [] })));
    await anna.control(without, 'cancel');
    await anna.state(without, 'cancelled');
    desktop.showsButtons = true;
    const accepted = await send();
    await asked(1);
    expect(desktop.shown.at(-1)?.buttons).toMatchObject({ yes: 'Accept', no: 'Refuse' });
    await until(async () => expect(await labels()).toContain(title));
    expect(await own.main.evaluate(() => (globalThis as unknown as { seen: Seen }).seen.badge)).toBe(1);
    desktop.press(title, 'yes');
    expect(await anna.state(accepted, 'done')).toBeDefined();
    const refused = await send();
    await asked(2);
    desktop.press(title, 'no');
    expect(await anna.state(refused, 'failed')).toMatchObject({ error: { code: 'OFFER_DECLINED' } });
    desktop.pressesAtOnce = 'yes';
    expect(await anna.state(await send(), 'done')).toBeDefined();
    desktop.pressesAtOnce = undefined;
    // An answer from elsewhere withdraws the notification.
    const elsewhere = await send();
    await asked(4);
    desktop.press(title, 'default');
    await (await own.page()).waitForURL(/#\/receive$/);
    const { questions } = await own.call<{ questions: { question: number }[] }>('questions');
    await own.call('answer', { question: questions[0]?.question, answer: 'no' });
    await anna.state(elsewhere, 'failed');
    await until(async () => expect(desktop.closed).toContain(desktop.shown.at(-1)?.id));
  });
});
