// SPDX-License-Identifier: MPL-2.0
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { buildApp, OwnWindow, until } from './own-window.ts';
import { LACKING, openScreen, type Screen } from './screen.ts';

interface Status {
  pid: number;
}

/** Buttons of the dialog that asks before the program ends. */
const [KEEP, QUIT, CANCEL] = [0, 1, 2];

describe.skipIf(LACKING)(`the end of the window or its daemon (lacking: ${LACKING || 'nothing'})`, () => {
  let sandbox: Sandbox;
  let screen: Screen;
  let app: string;
  const windows: OwnWindow[] = [];
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    [screen, app] = await Promise.all([openScreen(), buildApp(sandbox)]);
    await writeFile(sandbox.path('file'), 'content');
  });
  afterAll(async () => {
    for (const window of windows) await window.close();
    // Daemons started by windows outlive them.
    for (const config of ['own', 'other', 'killed', 'crashed'])
      await (await sandbox.start(['stop', '--config', config])).ended;
    await sandbox.close();
    screen?.close();
  });

  async function open(config: string, args: string[] = []): Promise<OwnWindow> {
    const window = await OwnWindow.start(sandbox, { app, screen, config, args });
    windows.push(window);
    return window;
  }

  const quit = (window: OwnWindow) => window.main.evaluate(({ app }) => void setTimeout(() => app.quit()));
  const isVisible = (window: OwnWindow) =>
    window.main.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible());

  it('a window that sends asks before it ends: continue in the background, quit and continue later, or cancel', async () => {
    const window = await open('own');
    await window.call('send', { paths: [sandbox.path('file')], listen: '127.0.0.1:0' });
    const { pid } = await window.call<Status>('status');
    await window.main.evaluate(({ dialog }) => {
      const asked: { message: string; buttons: string[]; answer: (button: number) => void }[] = [];
      Object.assign(globalThis, { asked });
      dialog.showMessageBox = ((_window: unknown, { message, buttons }: { message: string; buttons: string[] }) =>
        new Promise((resolve) => {
          asked.push({ message, buttons, answer: (response) => resolve({ response, checkboxChecked: false }) });
        })) as never;
    });
    type Asked = { asked: { message: string; buttons: string[]; answer: (button: number) => void }[] };
    const answer = async (button: number) => {
      await quit(window);
      await until(async () =>
        expect(await window.main.evaluate(() => (globalThis as unknown as Asked).asked.length)).toBe(1),
      );
      return window.main.evaluate((_electron, chosen) => {
        const question = (globalThis as unknown as Asked).asked.pop();
        setTimeout(() => question?.answer(chosen));
        return [question?.message, ...(question?.buttons ?? [])];
      }, button);
    };
    expect(await answer(CANCEL)).toEqual([
      'A transfer is not finished.',
      'Keep running in the background',
      'Quit and resume later',
      'Cancel',
    ]);
    expect(await isVisible(window)).toBe(true);
    await answer(KEEP);
    await until(async () => expect(await isVisible(window)).toBe(false));
    expect(await window.call('transfers')).toMatchObject({ transfers: [{ state: 'waiting' }] });
    await window.startAgain([]);
    await until(async () => expect(await isVisible(window)).toBe(true));
    await answer(QUIT);
    await window.ended();
    await until(async () => expect(isRunning(pid)).toBe(false));
    // The unfinished send is restored.
    const next = await open('own', ['--hidden']);
    await until(async () => expect(await next.main.evaluate(({ app }) => app.isReady())).toBe(true));
    expect(await next.main.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(0);
    await next.startAgain([]);
    expect(await next.call('transfers')).toMatchObject({ transfers: [{ state: 'waiting' }] });
  });

  it('an idle window ends at once, and stops only a daemon that it started', async () => {
    const daemon = await OwnDaemon.start(sandbox, 'other');
    const guest = await open('other');
    expect(await guest.call('status')).toMatchObject({ pid: daemon.running.pid });
    await quit(guest);
    await guest.ended();
    expect((await daemon.command('status')).event).toMatchObject({ pid: daemon.running.pid });
    daemon.running.kill('SIGTERM');
    await daemon.running.ended;
    const owner = await open('other');
    const { pid } = await owner.call<Status>('status');
    await quit(owner);
    await owner.ended();
    await until(async () => expect(isRunning(pid)).toBe(false));
  });

  it('a killed daemon is restarted by itself; a stopped one only by the user', async () => {
    const window = await open('killed');
    const page = await window.page();
    const { pid } = await window.call<Status>('status');
    await page.getByText('Ready', { exact: true }).waitFor(); // before it has met its daemon, a page reports no loss
    const lost = page.getByText('The background service has stopped answering');
    // The daemon may be back within a second, so every change of the page is checked.
    const seen = page.evaluate(
      (text) =>
        new Promise<void>((resolve) => {
          const look = () => document.body.textContent?.includes(text) && resolve();
          new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
        }),
      'The background service has stopped answering',
    );
    // This call returns after the observer is set.
    await page.evaluate(() => undefined);
    process.kill(pid, 'SIGKILL');
    await seen;
    await lost.waitFor({ state: 'detached' });
    const { pid: next } = await window.call<Status>('status');
    expect(next).not.toBe(pid);
    // A daemon that the user stopped is not restarted.
    expect(await (await sandbox.start(['stop', '--config', 'killed'])).ended).toBe(0);
    await page.getByText('KeibiDrop was stopped').waitFor();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1500)));
    expect(await (await sandbox.start(['status', '--config', 'killed'])).ended).not.toBe(0);
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.getByText('KeibiDrop was stopped').waitFor({ state: 'detached' });
    expect((await window.call<Status>('status')).pid).not.toBe(next);
  });

  it('a crashed page comes back by itself; after a second crash in a row a dialog says so', async () => {
    const window = await open('crashed');
    await window.page();
    await window.main.evaluate(({ dialog }) => {
      const asked: string[] = [];
      Object.assign(globalThis, { asked });
      dialog.showMessageBox = (async (...args: { message: string; buttons: string[] }[]) => {
        const { message, buttons } = args[args.length - 1] ?? { message: '', buttons: [] };
        asked.push(message, ...buttons);
        return { response: 0, checkboxChecked: false };
      }) as never;
    });
    const asked = () => window.main.evaluate(() => (globalThis as unknown as { asked: string[] }).asked);
    const crash = async () => {
      const next = window.main.waitForEvent('window', { timeout: 240_000 });
      const pid = await window.main.evaluate(({ BrowserWindow }) => {
        const contents = BrowserWindow.getAllWindows()[0]?.webContents;
        // Electron before 12 lacks this method.
        if (contents?.forcefullyCrashRenderer === undefined) return contents?.getOSProcessId();
        contents.forcefullyCrashRenderer();
        return undefined;
      });
      if (pid !== undefined) process.kill(pid, 'SIGSEGV');
      // The welcome page may show again: a page that crashes may not have saved that it was seen.
      await (await next).getByRole('heading', { level: 1 }).waitFor();
      expect(await isVisible(window)).toBe(true);
    };
    await crash();
    expect(await asked()).toEqual([]);
    await crash();
    expect(await asked()).toEqual(['The window has stopped working', 'Open again', 'Quit']);
    await quit(window);
    await window.ended();
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
