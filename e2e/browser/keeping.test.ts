// SPDX-License-Identifier: MPL-2.0
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { HAS_BROWSER, openBrowser } from '../people/browser.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { Person } from './person.ts';

let sandbox: Sandbox;
let browser: Browser;
/** A new user. Other tests fix settings by environment; hers are in config.toml, so that the page can change them. */
let eve: Person;
let fay: OwnDaemon;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await mkdir(sandbox.path('bin'));
  await writeFile(sandbox.path('bin/xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${sandbox.path('opened')}\n`);
  await chmod(sandbox.path('bin/xdg-open'), 0o755);
  await mkdir(sandbox.path('eve'), { mode: 0o700 });
  await writeFile(sandbox.path('eve/config.toml'), 'listen = "127.0.0.1:26431"\ndiscovery = "off"\n');
  const PATH = `${sandbox.path('bin')}:${process.env.PATH}`;
  browser = await openBrowser();
  [eve, fay] = await Promise.all([
    Person.arrive(sandbox, browser, 'eve', {
      env: { KD_DISCOVERY: '', KD_PATIENCE: '', DISPLAY: ':99', PATH },
      look: { locale: 'en-GB' },
      welcomed: false,
    }),
    OwnDaemon.start(sandbox, 'fay', { env: { KD_LISTEN: '127.0.0.1:0', KD_SAVE_PATH: sandbox.path('fay-in') } }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await sandbox.close();
});

async function settingsOf(daemon: OwnDaemon): Promise<Record<string, string | undefined>> {
  const { settings } = await (await daemon.own()).call('settings', {}, { signal: daemon.signal });
  return Object.fromEntries(settings.map(({ key, value }) => [key, value]));
}

/** Waits for the view that follows the welcome pages. */
const arrived = (page: Page) => page.getByRole('heading', { level: 1, name: 'Send' }).waitFor();

describe.runIf(HAS_BROWSER)('the first page', () => {
  const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  it('asks for the folder and the name, saves both, and does not come back', async () => {
    const { page } = eve;
    const next = page.getByRole('button', { name: 'Next' });
    await title(page, 'Straight from your computer to theirs');
    await eve.picture('welcome-what');
    expect(await eve.barriers()).toEqual([]);
    await next.click();
    await title(page, 'Where should received files go?');
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('H1');
    const folder = page.getByLabel('Folder for received files');
    await folder.fill('eve-in');
    await next.click();
    await page.getByText('That is not a full path. Start it with / or ~/, or choose a folder.').waitFor();
    await folder.fill(sandbox.path('eve-in'));
    expect(await eve.barriers()).toEqual([]);
    await next.click();
    await title(page, 'How do others recognise you?');
    // Listed at once. A list requested only on this page would come later.
    expect(await page.getByRole('listitem').count()).toBeGreaterThan(5);
    const name = page.getByLabel('Your name for others');
    await name.fill('x'.repeat(300));
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('That name is too long, or contains invisible characters.').waitFor();
    await eve.picture('welcome-who-refused');
    expect(await eve.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await folder.inputValue()).toBe('~/eve-in');
    // The error about the name does not show beside the folder.
    expect(await page.getByText('That is not a full path.').count()).toBe(0);
    await next.click();
    await name.fill('Eve');
    await page.keyboard.press('Enter');
    await arrived(page);
    expect(await settingsOf(eve.daemon)).toMatchObject({ save_path: sandbox.path('eve-in'), label: 'Eve' });
    await page.reload();
    await arrived(page);
    expect(await page.getByText('Straight from your computer').count()).toBe(0);
  });

  it('is skipped at any step, and changes nothing', async () => {
    const before = await settingsOf(eve.daemon);
    const guest = await Person.before(eve.daemon, browser, { colorScheme: 'dark' }, { welcomed: false });
    await guest.page.getByRole('button', { name: 'Next' }).click();
    await title(guest.page, 'Where should received files go?');
    await guest.page.getByLabel('Folder for received files').fill('/nowhere');
    expect(await guest.barriers()).toEqual([]);
    await guest.page.getByRole('button', { name: 'Skip' }).click();
    await arrived(guest.page);
    await guest.page.reload();
    await arrived(guest.page);
    expect(await settingsOf(eve.daemon)).toEqual(before);
    expect(guest.mistakes()).toEqual([]);
    await guest.leave();
  });

  it('says that the daemon was stopped, and how to start it', async () => {
    const gus = await OwnDaemon.start(sandbox, 'gus', { env: { KD_LISTEN: '127.0.0.1:0' } });
    const guest = await Person.before(gus, browser, {}, { welcomed: false });
    await title(guest.page, 'Straight from your computer to theirs');
    await gus.command('stop');
    await guest.page.getByText('KeibiDrop was stopped').waitFor();
    await guest.page.getByText('Run keibidrop ui in a terminal').waitFor();
    await guest.picture('welcome-stopped');
    expect(await guest.barriers()).toEqual([]);
    await guest.leave();
  });
});

/** Key and label of a setting, a value that is refused with its error message, and a value that is saved. */
const FIELDS = [
  ['label', 'Your name for others', 'x'.repeat(300), 'That name is too long', 'Eve of the tests'],
  ['limit', 'Speed limit', 'fast', 'Use a number above 0', '10M'],
  ['code_length', 'Words in a code', '1', 'Use a number from 2 to 16.', '3'],
  ['rendezvous', 'Rendezvous', 'nowhere', 'Use HOST:PORT', '127.0.0.1:9'],
  ['listen', 'Port on which others reach you', '70000', 'Use a port from 0 to 65535', '127.0.0.1:0'],
  ['patience', 'How long to retry a lost connection', 'forever', 'Use a time of up to 30d', '90s'],
  ['history_entries', 'Entries to keep', 'all', 'Use a number from 0 to 1,000,000.', '500'],
  ['history_days', 'Days to keep them', '-1', 'Use a number from 0 to 1,000,000.', '30'],
] as const;

/** The form of one setting, and its button. */
const formOf = (page: Page, control: Locator) => page.locator('form').filter({ has: control });
const saveIn = (form: Locator) => form.getByRole('button', { name: 'Save' });

describe.runIf(HAS_BROWSER)('a setting', () => {
  it('that is typed is saved, or refused beside its field', async () => {
    const { page } = eve;
    await eve.open('settings');
    for (const [key, label, wrong, said, right] of FIELDS) {
      const before = await settingsOf(eve.daemon);
      const field = page.getByLabel(label, { exact: true });
      const form = formOf(page, field);
      await field.fill(wrong);
      await saveIn(form).click();
      await form.getByText(said).waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await settingsOf(eve.daemon)).toEqual(before);
      await field.fill(right);
      await saveIn(form).click();
      await form.getByText('Saved').waitFor();
      expect(await settingsOf(eve.daemon)).toEqual({ ...before, [key]: right });
    }
    // No server listens at that address.
    await page.getByLabel('Rendezvous', { exact: true }).fill('');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await settingsOf(eve.daemon)).rendezvous).toBeUndefined();
  });

  it('that is chosen is saved at once: a folder, and the networks', async () => {
    const { page } = eve;
    await mkdir(sandbox.path('chosen'));
    const form = formOf(page, page.getByLabel('Folder for received files'));
    await form.getByRole('button', { name: 'Choose…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a folder' });
    await dialog.getByRole('button', { name: 'chosen' }).click();
    await dialog.getByRole('status').getByText('~/chosen').waitFor();
    expect(await eve.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Use this folder' }).click();
    await saveIn(form).click();
    await form.getByText('Saved').waitFor();
    const networks = page.getByRole('group', { name: 'Search for others nearby' });
    await networks.getByText('On one', { exact: true }).click();
    const named = page.getByLabel('Name of the network interface');
    await named.fill('no such/thing');
    await page.keyboard.press('Enter');
    await page.getByText('That is not the name of a network interface.').waitFor();
    await named.fill('lo');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await settingsOf(eve.daemon)).discovery).toBe('lo');
    await networks.getByText('Nowhere', { exact: true }).click();
    await expect.poll(async () => (await settingsOf(eve.daemon)).discovery).toBe('off');
    expect((await settingsOf(eve.daemon)).save_path).toBe(sandbox.path('chosen'));
  });

  it('fixed by the environment is shown as fixed, and cannot be changed', async () => {
    const guest = await Person.before(fay, browser);
    await guest.open('settings');
    for (const [label, value, place] of [
      ['Folder for received files', '~/fay-in', 'KD_SAVE_PATH'],
      ['Port on which others reach you', '127.0.0.1:0', 'KD_LISTEN'],
      ['How long to retry a lost connection', '0', 'KD_PATIENCE'],
    ] as const) {
      const field = guest.page.getByLabel(label);
      await formOf(guest.page, field).getByText(`Set by ${place}`).waitFor();
      expect([await field.inputValue(), await field.isDisabled()]).toEqual([value, true]);
    }
    expect(await guest.page.getByLabel('Nowhere').isDisabled()).toBe(true);
    await guest.picture('settings-fixed');
    expect(guest.mistakes()).toEqual([]);
    await guest.leave();
  });

  it('for the look of the page is saved by the browser', async () => {
    const { page } = eve;
    const theme = page.getByRole('group', { name: 'Theme' });
    const paper = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
    const light = await paper();
    await theme.getByText('Dark', { exact: true }).click();
    const dark = await paper();
    expect(dark).not.toBe(light);
    expect(await eve.barriers()).toEqual([]);
    await eve.picture('settings-dark', { whole: true });
    await page.reload();
    await expect.poll(paper).toBe(dark);
    await theme.getByText('Light', { exact: true }).click();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await paper()).toBe(light);
    await theme.getByText('Same as the system').click();
    expect(await paper()).toBe(dark);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(paper).toBe(light); // the page gets the change with its next frame
    await page.getByLabel('Language').selectOption({ label: 'Deutsch' });
    await page.reload();
    await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await page.getByLabel('Sprache').selectOption('system');
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  });
});

/** Sends `path` from one daemon to the other and waits until both are done. */
async function carry(from: OwnDaemon, to: OwnDaemon, path: string, out: string): Promise<void> {
  const { id, code } = await from.send({ paths: [path] });
  const received = await to.receive({ code, out, yes: true });
  await Promise.all([to.state(received, 'done'), from.state(id, 'done')]);
}

describe.runIf(HAS_BROWSER)('the history', () => {
  beforeAll(async () => {
    await writeFile(sandbox.path('plan.txt'), 'a plan');
    await writeFile(sandbox.path('photo.jpg'), 'a photo');
    await carry(eve.daemon, fay, sandbox.path('plan.txt'), sandbox.path('fay-in'));
    await carry(fay, eve.daemon, sandbox.path('photo.jpg'), sandbox.path('photos of fay'));
  });

  it('is filtered, and searched for names, people and folders', async () => {
    const { page } = eve;
    await eve.open('history');
    const today = page.getByRole('list', { name: 'Today' }).getByRole('listitem');
    const names = async () => (await today.allTextContents()).map((text) => /plan\.txt|photo\.jpg/.exec(text)?.[0]);
    await expect.poll(names).toEqual(['photo.jpg', 'plan.txt']);
    const show = page.getByRole('group', { name: 'Show' });
    await show.getByText('Sent', { exact: true }).click();
    await expect.poll(names).toEqual(['plan.txt']);
    await show.getByText('Received', { exact: true }).click();
    await expect.poll(names).toEqual(['photo.jpg']);
    await show.getByText('All', { exact: true }).click();
    await page.getByLabel('Search the history').fill('FAY photos');
    await expect.poll(names).toEqual(['photo.jpg']);
    await page.getByText('1 entry').waitFor();
    await page.getByLabel('Search the history').fill('fay plan');
    await page.getByText('No entry contains all these words.').waitFor();
    await page.getByLabel('Search the history').fill('');
    await expect.poll(names).toEqual(['photo.jpg', 'plan.txt']);
    await eve.picture('history');
  });

  it('opens the folder of a received file, or says that no file manager can show it', async () => {
    await eve.page.getByRole('button', { name: 'Open the folder of photo.jpg' }).click();
    await expect
      .poll(() => readFile(sandbox.path('opened'), 'utf8').catch(() => ''))
      .toBe(sandbox.path('photos of fay'));
    const guest = await Person.before(fay, browser);
    await guest.open('history');
    await guest.page.getByRole('button', { name: 'Open the folder of plan.txt' }).click();
    await guest.page.getByText('This computer has no file manager that could show the folder.').waitFor();
    await guest.leave();
  });

  it('sends an entry again', async () => {
    const { page } = eve;
    await page.getByRole('button', { name: 'Send plan.txt again' }).click();
    const code = ((await page.getByTestId('code').first().textContent()) ?? '').trim();
    expect(code.split('-')).toHaveLength(4); // the code length saved above
    await fay.state(await fay.receive({ code, out: sandbox.path('again'), yes: true }), 'done');
    expect(await readFile(sandbox.path('again/plan.txt'), 'utf8')).toBe('a plan');
  });

  it('is cleared after a confirmation, and the files stay', async () => {
    const { page } = eve;
    await eve.open('history');
    await page.getByRole('button', { name: 'Clear' }).click();
    const dialog = page.getByRole('dialog', { name: 'Clear the history?' });
    expect(await eve.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByText('photo.jpg', { exact: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Clear' }).click();
    await dialog.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Nothing sent or received yet').waitFor();
    expect((await eve.daemon.command('history')).event.entries).toEqual([]);
    expect(await readFile(sandbox.path('photos of fay/photo.jpg'), 'utf8')).toBe('a photo');
    expect(eve.mistakes()).toEqual([]);
  });
});

describe.runIf(HAS_BROWSER)('when the page fails', () => {
  it('keeps the other views, and draws the broken one once it can', async () => {
    const guest = await Person.before(fay, browser);
    const { page } = guest;
    // A malformed reply.
    await page.route('**/api/History', (route) => route.fulfill({ json: { entries: [null] } }));
    await guest.open('history');
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await page.getByText('What went wrong').click();
    await page.getByText(/TypeError/).waitFor();
    expect(await guest.barriers()).toEqual([]);
    await guest.picture('broken-view');
    await guest.open('people');
    await page.getByRole('heading', { level: 1, name: 'People' }).waitFor();
    await guest.open('history');
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await page.unroute('**/api/History');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('plan.txt').first().waitFor();
    await guest.leave();
  });

  it('says that the key in its address is wrong', async () => {
    const { page } = eve;
    const stranger = await page.context().browser()?.newPage();
    await stranger?.goto(new URL('/#ticket=wrong', page.url()).href);
    await stranger?.getByText('This page has no key to your KeibiDrop').waitFor();
    await stranger?.getByText('Open it with keibidrop ui').waitFor();
    await stranger?.context().close();
  });
});
