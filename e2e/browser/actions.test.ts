// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { afterEach, describe, expect } from 'vitest';
import { IS_ROOT } from '../harness/sandbox.ts';
import { HAS_BROWSER } from '../people/browser.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { LISTEN, type PageFixtures, pageTest } from './page-test.ts';
import { fileOf, Person } from './person.ts';

const MIB = 2 ** 20;
/** A text with a right-to-left override and markup, which must stay as they are. */
const TEXT = 'first line\nsecond\u202e line, <b>not bold</b>\n';

const look = { permissions: ['clipboard-read', 'clipboard-write'] };
const it = pageTest({
  async prepare(sandbox) {
    const folders = ['bin', 'ben-in', 'places/inner/deepest', 'full'];
    await Promise.all(folders.map((each) => mkdir(sandbox.path(each), { recursive: true })));
    const opener = `#!/bin/sh\nprintf %s "$1" > '${sandbox.path('opened')}'\n`;
    await writeFile(sandbox.path('bin/xdg-open'), opener, { mode: 0o755 });
    await writeFile(sandbox.path('note.txt'), 'a note');
  },
  // The daemon of a computer without a desktop.
  ada: (sandbox) => ({ look, env: { ...LISTEN, KD_SAVE_PATH: sandbox.path('ada-in') } }),
  ben: (sandbox) => {
    const desktop = { DISPLAY: ':99', PATH: `${sandbox.path('bin')}:${process.env.PATH}` };
    return { look, env: { ...LISTEN, ...desktop, KD_SAVE_PATH: sandbox.path('ben-in') } };
  },
});

afterEach<PageFixtures>(async ({ task, ada, ben }) => {
  if (task.result?.state !== 'fail') return;
  await Promise.all([ada.picture('actions-failed-ada'), ben.picture('actions-failed-ben')]);
});

/** Sends files of this machine through the page. @returns  the code that the page shows */
async function sent(who: Person, paths: string[]): Promise<string> {
  await who.open('send');
  await who.page.getByTestId('pick-files').setInputFiles(paths);
  return who.createCode();
}

/** Reloads the page, which drops every choice made in it. */
async function anew(who: Person): Promise<void> {
  await who.page.reload();
  await who.skipWelcome();
}

const asked = (who: Person, name: string): Locator =>
  who.page.getByRole('region', { name: 'Waiting for your answer' }).getByRole('region', { name });

/** The text on the clipboard. */
const clipboard = (who: Person): Promise<string> => who.page.evaluate<string>('navigator.clipboard.readText()');

async function copied(who: Person, text: string): Promise<void> {
  await who.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
}

describe.runIf(HAS_BROWSER)('the clipboard', () => {
  it('copies the code and its link, and fills in a pasted code', async ({ ada, ben, sandbox }) => {
    const code = await sent(ada, [sandbox.path('note.txt')]);
    expect(await ada.barriers()).toEqual([]);
    const card = ada.page.getByRole('region', { name: 'note.txt' });
    await card.getByRole('button', { name: 'Copy code' }).click();
    await card.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await clipboard(ada)).toBe(code);
    await card.getByRole('button', { name: 'Copy link' }).click();
    await expect.poll(() => clipboard(ada)).toBe(`keibidrop://receive/${code}`);
    for (const text of [await clipboard(ada), `  ${code.toUpperCase()}\n`]) {
      await copied(ada, text);
      await anew(ben);
      await ben.open('receive');
      await ben.page.getByRole('button', { name: 'Paste', exact: true }).click();
      await expect.poll(() => ben.page.getByLabel('Code from the sender').inputValue()).toBe(code);
    }
    const field = ben.page.getByLabel('Code from the sender');
    await copied(ben, `Hello,\n  keibidrop receive ${code.toUpperCase()} \nBye`);
    await field.fill('7-');
    await field.press('Control+v');
    await expect.poll(() => field.inputValue()).toBe(code);
    await field.press('End');
    await field.pressSequentially(' ');
    await ben.page.getByRole('button', { name: 'Receive', exact: true }).click();
    await asked(ben, 'Offer').getByRole('button', { name: 'Accept' }).click();
    await ben.card('note.txt').getByText(/^Done/).waitFor();
  });

  it('pastes a text to send, and copies a received text unchanged', async ({ ada, ben }) => {
    await copied(ada, TEXT);
    await anew(ada);
    await ada.open('send');
    await ada.page.getByRole('button', { name: 'Paste', exact: true }).click();
    await expect.poll(() => ada.page.getByLabel('Text to send').inputValue()).toBe(TEXT);
    await ben.receive(await ada.createCode());
    await asked(ben, 'Offer').getByRole('button', { name: 'Accept' }).click();
    await copied(ben, 'something else');
    await ben.page.getByRole('region', { name: 'Text received' }).getByRole('button', { name: 'Copy' }).click();
    await expect.poll(() => clipboard(ben)).toBe(TEXT);
  });
});

describe.runIf(HAS_BROWSER)('the destination', () => {
  it('is a folder chosen before receiving, and opens afterwards', async ({ ada, ben, sandbox }) => {
    const { page } = ben;
    await anew(ben);
    await ben.open('receive');
    await page.getByRole('button', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a folder' });
    const goTo = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
    const where = dialog.getByRole('status');
    const isAt = (place: string) => where.getByText(place, { exact: true }).waitFor();
    await isAt('~/ben-in');
    await goTo('Parent folder');
    await isAt('~');
    const chosen = sandbox.path('places/inner');
    for (const [name, place] of [
      ['places', '~/places'],
      ['inner', '~/places/inner'],
      ['deepest', '~/places/inner/deepest'],
      ['Parent folder', '~/places/inner'],
    ] as const) {
      await goTo(name);
      await isAt(place);
    }
    await ben.picture('folder-dialog');
    expect(await ben.barriers()).toEqual([]);
    await goTo('Use this folder');
    await page.getByText('~/places/inner', { exact: true }).waitFor();
    await ben.receive(await sent(ada, [sandbox.path('note.txt')]));
    const offer = asked(ben, 'Offer');
    expect(await offer.getByLabel('Save to').inputValue()).toBe('~/places/inner');
    await offer.getByRole('button', { name: 'Accept' }).click();
    await ben.card('note.txt').getByText(/^Done/).waitFor();
    expect(await readFile(`${chosen}/note.txt`, 'utf8')).toBe('a note');
    await ben.card('note.txt').getByRole('button', { name: 'Open folder' }).click();
    await expect.poll(() => readFile(sandbox.path('opened'), 'utf8').catch(() => '')).toBe(chosen);
  });

  it('cannot be opened without a desktop, and the page says so', async ({ ada, ben, sandbox }) => {
    const { code } = await ben.daemon.send({ paths: [sandbox.path('note.txt')] });
    const receiving = await ada.daemon.receive({ code, yes: true });
    await ada.open('transfers', receiving);
    await ada.page.getByRole('button', { name: 'Open folder' }).click();
    await ada.page.getByText('no file manager that could show the folder').waitFor();
    expect(ada.complaints.splice(0)).toEqual([expect.stringContaining('422')]);
  });

  it.runIf(IS_ROOT)(
    'warns about too little space before and after accepting, and can be changed in the offer',
    async ({ ada, ben, sandbox }) => {
      const small = await sandbox.mountTmpfs('small', MIB);
      const code = await sent(ada, [await fileOf(sandbox, 'too-large.bin', 4)]);
      await anew(ben);
      await ben.open('receive');
      await ben.page.getByText('Options').click();
      await ben.page.getByLabel('Save to').fill(small);
      await ben.receive(code);
      const offer = asked(ben, 'Offer');
      await offer.getByText('There is too little space for it').waitFor();
      await ben.picture('receive-too-little');
      expect(await ben.barriers()).toEqual([]);
      await offer.getByRole('button', { name: 'Accept' }).click();
      await ben.card('too-large.bin').getByText('The disk is full').waitFor();
      expect(await readdir(small)).not.toContain('too-large.bin');
      await ben.receive(await sent(ada, [sandbox.path('too-large.bin')]));
      await offer.getByText('There is too little space for it').waitFor();
      await offer.getByRole('button', { name: 'Choose…' }).click();
      const dialog = ben.page.getByRole('dialog', { name: 'Choose a folder' });
      await dialog.getByRole('button', { name: 'Parent folder' }).click();
      await dialog.getByRole('button', { name: 'places', exact: true }).click();
      await dialog.getByRole('button', { name: 'Use this folder' }).click();
      const place = offer.getByLabel('Save to');
      await expect.poll(() => place.inputValue()).toBe('~/places');
      await offer.getByText('There is too little space for it').waitFor({ state: 'detached' });
      await place.fill('~/places/new');
      await offer.getByText(/ free$/).waitFor();
      await ben.picture('receive-elsewhere');
      await offer.getByRole('button', { name: 'Accept' }).click();
      await ben.card('too-large.bin').getByText(/^Done/).waitFor();
      expect((await stat(sandbox.path('places/new/too-large.bin'))).size).toBe(4 * MIB);
      expect(await readdir(small)).not.toContain('too-large.bin');
    },
  );
});

describe.runIf(HAS_BROWSER)('a name collision', () => {
  it('is asked about file by file, until one answer covers the rest', async ({ ada, ben, sandbox }) => {
    const names = ['1.txt', '2.txt', '3.txt', '4.txt', '5.txt'];
    await Promise.all(names.map((name) => writeFile(sandbox.path('full', name), `old ${name}`)));
    await Promise.all(names.map((name) => writeFile(sandbox.path(name), `new and longer ${name}`)));
    await anew(ben);
    await ben.open('receive');
    const { page } = ben;
    await page.getByText('Options').click();
    await page.getByLabel('Save to').fill(sandbox.path('full'));
    await page.getByLabel('If the name is taken').selectOption({ label: 'Ask me' });
    // Sent by the daemon: a browser uploads files in any order.
    const { code } = await ada.daemon.send({ paths: names.map((name) => sandbox.path(name)) });
    await ben.receive(code);
    await asked(ben, 'Offer').getByRole('button', { name: 'Accept' }).click();
    const about = (name: string) => asked(ben, 'A file or folder with that name exists').filter({ hasText: name });
    await about('1.txt').waitFor();
    await ben.picture('receive-collision');
    expect(await ben.barriers()).toEqual([]);
    await about('1.txt').getByRole('button', { name: 'Keep both' }).click();
    await about('2.txt').getByRole('button', { name: 'Skip' }).click();
    await about('3.txt').getByRole('button', { name: 'Overwrite' }).click();
    await about('4.txt').getByLabel('For all that follow').check();
    await about('4.txt').getByRole('button', { name: 'Skip' }).click();
    await page
      .getByRole('region', { name: 'What you receive' })
      .getByText(/^Done · .*3 existed already/)
      .waitFor();
    const read = async (name: string) => [name, await readFile(sandbox.path('full', name), 'utf8')];
    const found = await readdir(sandbox.path('full'));
    expect(Object.fromEntries(await Promise.all(found.map(read)))).toEqual({
      '1.txt': 'old 1.txt',
      '1 (1).txt': 'new and longer 1.txt',
      '2.txt': 'old 2.txt',
      '3.txt': 'new and longer 3.txt',
      '4.txt': 'old 4.txt',
      '5.txt': 'old 5.txt',
    });
  });
});

describe.runIf(HAS_BROWSER)('a send', () => {
  it('to two receivers shows the code until both are connected, and the progress of each', async ({
    ada,
    ben,
    sandbox,
  }) => {
    const { page } = ada;
    const cy = await OwnDaemon.start(sandbox, 'cy', { env: { ...LISTEN, KD_SAVE_PATH: sandbox.path('cy-in') } });
    await anew(ada);
    await ada.open('send');
    await page.getByTestId('pick-files').setInputFiles([await fileOf(sandbox, 'both.bin', 24)]);
    await page.getByText('Options').click();
    await page.getByText('Several', { exact: true }).click();
    await page.getByLabel('How many', { exact: true }).fill('2');
    await page.getByLabel('Speed limit').fill('8');
    const code = await ada.createCode();
    await ben.receive(code);
    await asked(ben, 'Offer').getByRole('button', { name: 'Accept' }).click();
    await ada.card('both.bin').getByRole('progressbar').waitFor();
    expect(await page.getByTestId('code').textContent()).toBe(code);
    // Paused until the second receiver connects, so that the first cannot finish before.
    const { transfer } = await ada.daemon.until(({ event, kind, state }) => {
      return event === 'transfer' && kind === 'send' && state === 'running';
    });
    await ada.daemon.control(transfer, 'pause');
    await cy.receive({ code, yes: true });
    await ada.card('both.bin').getByRole('link').click();
    const rows = page.getByRole('region', { name: 'Receivers' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await ada.daemon.control(transfer, 'resume');
    await expect.poll(() => rows.filter({ hasText: '/s' }).count()).toBe(2);
    await ada.picture('transfer-two-receivers');
    expect(await ada.barriers()).toEqual([]);
    await expect.poll(() => rows.filter({ hasText: 'Received everything' }).count()).toBe(2);
    await page.getByRole('status').getByText(/^Done/).waitFor();
  });

  it('can be discarded during the upload from the browser, and started again', async ({ ada, sandbox }) => {
    const { page } = ada;
    const path = await fileOf(sandbox, 'slow.bin', 32);
    const drops = () => readdir(sandbox.path('ada/state/drops')).catch(() => []);
    const before = await drops();
    const network = await page.context().newCDPSession(page);
    const upload = (uploadThroughput: number) =>
      network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await network.send('Network.enable');
    await ada.open('send');
    await page.getByTestId('pick-files').setInputFiles([path]);
    await upload(4 * MIB);
    await page.getByRole('button', { name: 'Create a code' }).click();
    await page.getByText('Copying to KeibiDrop').waitFor();
    await expect.poll(drops).not.toEqual(before);
    await page.locator('form').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Copying to KeibiDrop').waitFor({ state: 'detached' });
    await expect.poll(drops).toEqual(before);
    await upload(-1);
    await network.detach();
    await ada.createCode();
    const card = page.getByRole('region', { name: 'slow.bin' });
    await card.getByRole('button', { name: 'Cancel' }).click();
    await ada.card('slow.bin').getByText('Cancelled').waitFor();
  });

  it.runIf(IS_ROOT)('is refused before the upload starts if the disk lacks the space', async ({ browser, sandbox }) => {
    await mkdir(sandbox.path('dee'), { mode: 0o700 });
    // Less than the space that is always left free.
    await sandbox.mountTmpfs('dee/state', MIB);
    const dee = await Person.arrive(sandbox, browser, 'dee', { env: LISTEN });
    const asked: string[] = [];
    dee.page.on('request', (request) => {
      if (request.url().includes('/drop')) asked.push(`${request.method()} ${request.postData()}`);
    });
    await dee.page.getByTestId('pick-files').setInputFiles([sandbox.path('note.txt'), sandbox.path('slow.bin')]);
    await dee.page.getByRole('button', { name: 'Create a code' }).click();
    await dee.page.getByText('This computer has too little space for the dropped files').waitFor();
    await dee.picture('send-no-room');
    expect(asked).toEqual([`POST {"bytes":${32 * MIB + 6}}`]);
    await dee.leave();
  });

  it('waits in the queue, moves to its front, and is paused and resumed with all others', async ({
    ada,
    ben,
    sandbox,
  }) => {
    const reach = { limit: 2 * MIB, directOnly: false, relayOnly: false };
    for (const name of ['one.bin', 'two.bin']) {
      const { code } = await ada.daemon.send({ paths: [await fileOf(sandbox, name, 48)], reach });
      await ben.daemon.receive({ code, yes: true });
    }
    const { page } = ada;
    await ada.open('transfers');
    const [one, two] = [ada.card('one.bin'), ada.card('two.bin')];
    const moves = (card: Locator) => card.getByText('/s').waitFor();
    await Promise.all([moves(one), two.getByText('Waiting for its turn').waitFor()]);
    await ada.picture('transfers-queue');
    await two.getByRole('button', { name: 'First in the queue' }).click();
    await Promise.all([moves(two), one.getByText('Waiting for its turn').waitFor()]);
    await page.getByRole('button', { name: 'Pause all' }).click();
    await Promise.all([one, two].map((card) => card.getByText('Paused', { exact: true }).waitFor()));
    await ben.open('transfers');
    await ben.card('two.bin').getByText('Paused by the other side').waitFor();
    await page.getByRole('button', { name: 'Resume all' }).click();
    await Promise.all([moves(two), one.getByText('Waiting for its turn').waitFor()]);
    for (const card of [one, two]) {
      await card.getByRole('button', { name: 'Cancel' }).click();
      await card.getByText('Cancelled').waitFor();
    }
    await page.getByRole('button', { name: 'Clear ended' }).click();
    await Promise.all([one, two].map((card) => card.waitFor({ state: 'detached' })));
  });

  it('to a contact is declined before an offer is made', async ({ ada, ben, sandbox }) => {
    await Promise.all([ada.daemon.know('Ben', ben.daemon), ben.daemon.know('Ada', ada.daemon)]);
    const { page } = ada;
    await ada.open('send');
    await page.getByTestId('pick-files').setInputFiles([sandbox.path('note.txt')]);
    await page.getByText('online', { exact: true }).first().waitFor({ state: 'attached' });
    await page.getByRole('group', { name: 'Send to' }).getByText('Ben', { exact: true }).click();
    await page.getByRole('button', { name: 'Send to Ben' }).click();
    await ben.open('receive');
    const invitation = asked(ben, 'Invitation');
    await invitation.getByText('Ada wants to send you files').waitFor();
    // Like an offer by code, it shows its contents before it is accepted.
    await invitation.getByText('1 file', { exact: true }).waitFor();
    await invitation.getByText('6 bytes', { exact: true }).waitFor();
    await invitation.getByText(/ free$/).waitFor();
    expect(await invitation.getByLabel('Save to').inputValue()).toBe('~/ben-in');
    await ben.picture('receive-invitation');
    expect(await ben.barriers()).toEqual([]);
    await invitation.getByRole('button', { name: 'Refuse' }).click();
    await invitation.waitFor({ state: 'detached' });
    await page
      .getByRole('region', { name: 'Your sends' })
      .getByText(/declined/)
      .waitFor();
  });

  it('leaves the console empty', ({ ada, ben }) => {
    expect([...ada.complaints, ...ben.complaints]).toEqual([]);
  });
});
