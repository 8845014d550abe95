// SPDX-License-Identifier: MPL-2.0
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/sandbox.ts';
import { HAS_BROWSER, openBrowser } from '../people/browser.ts';
import { OwnDaemon } from '../people/own-daemon.ts';
import { Person } from './person.ts';

let sandbox: Sandbox;
let browser: Browser;
let ada: Person;
let ben: Person;
beforeAll(async () => {
  sandbox = await Sandbox.open();
  await mkdir(sandbox.path('holiday'));
  await writeFile(sandbox.path('holiday/lake.jpg'), 'a lake');
  await writeFile(sandbox.path('plan.txt'), 'a plan');
  await mkdir(sandbox.path('ben-in/from ada'), { recursive: true });
  browser = await openBrowser();
  const env = { KD_LISTEN: '127.0.0.1:0', KD_PATIENCE: '5m' };
  const [adas, bens] = await Promise.all([
    OwnDaemon.start(sandbox, 'ada', { env }),
    OwnDaemon.start(sandbox, 'ben', { env: { ...env, KD_SAVE_PATH: sandbox.path('ben-in') } }),
  ]);
  await adas.know('Ben', bens);
  await bens.know('Ada', adas);
  [ada, ben] = await Promise.all([Person.before(adas, browser), Person.before(bens, browser)]);
});
afterAll(async () => {
  await browser?.close();
  await sandbox.close();
});

async function contactOf(who: Person, name: string) {
  const { contacts } = await (await who.daemon.own()).call('contacts', {}, { signal: who.daemon.signal });
  return contacts.find((contact) => contact.name === name);
}

const row = (who: Person, name: string): Locator =>
  who.page
    .getByRole('list', { name: 'Contacts' })
    .getByRole('listitem')
    .filter({ has: who.page.getByText(name, { exact: true }) });

async function openDetails(who: Person, name: string): Promise<void> {
  await who.open('people');
  const more = who.page.getByRole('button', { name: `More about ${name}` });
  await more.or(who.page.getByRole('button', { name: `Less about ${name}` })).waitFor();
  if (await more.isVisible()) await more.click();
}

describe.runIf(HAS_BROWSER)('dialogs', () => {
  it('have no accessibility barriers, and close on Escape', async () => {
    const { page } = ada;
    const found: string[] = [];
    const look = async (button: string, title: string, inside?: () => Promise<void>) => {
      await page.getByRole('button', { name: button, exact: true }).click();
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      await inside?.();
      for (const barrier of await ada.barriers()) found.push(`${title}: ${barrier}`);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await page.evaluate<string>('document.activeElement.innerText')).toContain(button);
    };
    await ada.open('people');
    await look('Add someone', 'Add someone', async () => {
      await page.getByRole('dialog').getByLabel('Name').fill('Cy');
      await page.getByLabel('Link or fingerprint').fill('keibidrop://id/short');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('That is not a link or a fingerprint.').waitFor();
    });
    await openDetails(ada, 'Ben');
    await look('Compare and verify', 'Is this really Ben?', async () => {
      await page.getByRole('button', { name: 'They differ' }).click();
      await page.getByText('Then do not trust this contact').waitFor();
    });
    await look('Rename', 'Rename Ben');
    await look('Remove', 'Remove Ben?');
    await ada.open('mounts');
    await look('Share a folder', 'Share a folder');
    await look('Connect to a folder', 'Connect to a shared folder');
    expect(found).toEqual([]);
    expect(await contactOf(ada, 'Ben')).toMatchObject({ verified: false });
  });
});

describe.runIf(HAS_BROWSER)('a nearby sender', () => {
  it('appears in People, and can be received from by code', async () => {
    const { page } = ben;
    await ben.open('people');
    const { id, code } = await ada.daemon.send({ paths: [sandbox.path('plan.txt')] });
    await page.getByRole('button', { name: 'Receive from A sender' }).click();
    const dialog = page.getByRole('dialog', { name: 'Receive from A sender' });
    await dialog.getByLabel('Code').fill(code);
    await ben.picture('nearby');
    expect(await ben.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Receive', exact: true }).click();
    const asked = page.getByRole('region', { name: 'Waiting for your answer' });
    await asked.getByRole('button', { name: 'Accept' }).click();
    await ada.daemon.state(id, 'done');
    await expect.poll(() => readFile(sandbox.path('ben-in/plan.txt'), 'utf8').catch(() => '')).toBe('a plan');
    await ben.open('people');
    await page.getByText('No one is sending nearby right now.').waitFor();
  });
});

describe.runIf(HAS_BROWSER)('a contact', () => {
  it('has a rule of their own, with a folder chosen on this computer', async () => {
    const { page } = ben;
    await openDetails(ben, 'Ada');
    await page.getByRole('group', { name: 'What Ada sends' }).getByText('Accept it').click();
    await page.getByText('Choose a folder to turn this on.').waitFor();
    expect(await contactOf(ben, 'Ada')).toMatchObject({ rule: 'ask' });
    await page.getByRole('button', { name: 'Choose…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Choose a folder' });
    await dialog.getByText('~/ben-in', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Parent folder' }).click();
    await dialog.getByRole('button', { name: 'ben-in' }).click();
    await dialog.getByRole('button', { name: 'from ada' }).click();
    await dialog.getByText('~/ben-in/from ada', { exact: true }).waitFor();
    await ben.picture('folder-chooser');
    expect(await ben.barriers()).toEqual([]);
    await dialog.getByRole('button', { name: 'Use this folder' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await row(ben, 'Ada').getByText('Saved to ~/ben-in/from ada').waitFor();
    expect(await contactOf(ben, 'Ada')).toMatchObject({ rule: 'accept', folder: sandbox.path('ben-in/from ada') });
  });

  it('gets a file at once when it is dropped on their row', async () => {
    await ada.open('people');
    await row(ada, 'Ben').getByText('Online').waitFor();
    await ada.drop([sandbox.path('plan.txt')], row(ada, 'Ben'));
    const arrived = () => readFile(sandbox.path('ben-in/from ada/plan.txt'), 'utf8').catch(() => '');
    await expect.poll(arrived).toBe('a plan');
  });

  it('is refused everything under another rule', async () => {
    const { page } = ben;
    await openDetails(ben, 'Ada');
    await page.route('**/api/ChangeContact', async (route) => {
      const response = await route.fetch();
      await setTimeout(500);
      await route.fulfill({ response });
    });
    const choose = (rule: string) => page.getByRole('group', { name: 'What Ada sends' }).getByText(rule).click();
    await choose('Refuse it');
    await row(ben, 'Ada').getByText('Refused', { exact: true }).waitFor();
    // Chosen after the daemon changed the rule, and before its reply arrives.
    await choose('Ask me');
    await expect.poll(async () => (await contactOf(ben, 'Ada'))?.rule).toBe('ask');
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('cannot be sent anything while blocked, by button or by drop', async () => {
    const { page } = ben;
    await openDetails(ben, 'Ada');
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await row(ben, 'Ada').getByText('Blocked').waitFor();
    expect(await page.getByRole('button', { name: 'Send to Ada' }).count()).toBe(0);
    expect(await row(ben, 'Ada').getAttribute('data-drop-to')).toBeNull();
    expect(await contactOf(ben, 'Ada')).toMatchObject({ blocked: true });
    await page.getByRole('button', { name: 'Unblock' }).click();
    await page.getByRole('button', { name: 'Send to Ada' }).waitFor();
    expect(await contactOf(ben, 'Ada')).toMatchObject({ blocked: false });
  });

  it('is invited to a shared folder, and accepts in Folders', async () => {
    await ada.open('mounts');
    await ada.page.getByRole('button', { name: 'Share a folder' }).click();
    const dialog = ada.page.getByRole('dialog', { name: 'Share a folder' });
    await dialog.getByLabel('Folder', { exact: true }).fill(sandbox.path('holiday'));
    await dialog.getByRole('group', { name: 'Invite contacts' }).getByText('Ben').click();
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await ada.page.getByText('Invited: Ben').waitFor();
    await ben.open('mounts');
    const invitations = ben.page.getByRole('list', { name: 'Invitations' });
    await invitations.getByText('Ada shares holiday with you').waitFor();
    const at = (view: string) => ben.page.getByRole('navigation').getByRole('link', { name: view });
    expect(await at('Folders').textContent()).toMatch(/1$/);
    expect(await at('Receive').textContent()).not.toMatch(/\d/);
    await ben.picture('share-invitation');
    expect(await ben.barriers()).toEqual([]);
    await invitations.getByRole('button', { name: 'Connect' }).click();
    const shared = ben.page.getByRole('list', { name: 'Shared with you' });
    await shared.getByText('Connected', { exact: true }).waitFor();
    await shared.getByText('from Ada').waitFor();
    await ben.page.getByRole('button', { name: 'Browse holiday' }).click();
    await ben.page.getByText('lake.jpg').waitFor();
    expect([...ada.mistakes(), ...ben.mistakes()]).toEqual([]);
  });
});

describe.runIf(HAS_BROWSER)('a contact with a new identity', () => {
  it('is shown to be compared again, and sees its own new words', async () => {
    await Promise.all([ada.open('people'), ben.open('people')]);
    const { event } = await ada.daemon.command('id', 'rotate', '--yes');
    await row(ben, 'Ada').getByText('New identity – compare it').waitFor();
    const you = ada.page.getByRole('region', { name: 'You' });
    for (const word of (event.words as string).split(' ')) await you.getByText(word, { exact: true }).first().waitFor();
    expect(await ben.barriers()).toEqual([]);
    await openDetails(ben, 'Ada');
    await ben.page.getByRole('button', { name: 'Compare and verify' }).click();
    await ben.page.getByRole('button', { name: 'They match' }).click();
    await row(ben, 'Ada').getByText('New identity – compare it').waitFor({ state: 'detached' });
    expect([...ada.mistakes(), ...ben.mistakes()]).toEqual([]);
  });
});

describe.runIf(HAS_BROWSER)('an identity with a passphrase', () => {
  it('shows as locked in every view, and is unlocked in the page', async () => {
    await writeFile(sandbox.path('words'), 'three small owls\n');
    await mkdir(sandbox.path('cy'), { mode: 0o700 });
    await writeFile(sandbox.path('cy/config.toml'), 'listen = "127.0.0.1:0"\n');
    const daemon = await OwnDaemon.start(sandbox, 'cy');
    await daemon.know('Ada', ada.daemon);
    const locked = await daemon.command('id', 'passphrase', '--new-passphrase-file', sandbox.path('words'));
    expect(locked).toMatchObject({ exit: 0, event: { lock: 'passphrase' } });
    await daemon.replace();
    const cy = await Person.before(daemon, browser);
    const { page } = cy;
    await page.getByText('Contacts cannot reach you until you unlock it with your passphrase.').waitFor();
    await cy.picture('locked');
    await page.getByRole('link', { name: 'Unlock' }).click();
    const passphrase = page.getByLabel('Passphrase');
    await passphrase.fill('three big owls');
    await page.keyboard.press('Enter');
    await page.getByText('That is not the passphrase.').waitFor();
    expect(await cy.barriers()).toEqual([]);
    await passphrase.fill('three small owls');
    await page.getByRole('button', { name: 'Unlock' }).click();
    await page.getByRole('region', { name: 'You' }).waitFor();
    await cy.open('send');
    expect(await page.getByText('Contacts cannot reach you until').count()).toBe(0);
    expect(cy.mistakes()).toEqual([]);
    await cy.leave();
  });
});
