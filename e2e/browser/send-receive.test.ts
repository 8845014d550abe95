// SPDX-License-Identifier: MPL-2.0
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import type { Sandbox } from '../harness/sandbox.ts';
import { HAS_BROWSER } from '../people/browser.ts';
import { LISTEN, pageTest } from './page-test.ts';

const env = (sandbox: Sandbox, name: string) => ({ env: { ...LISTEN, KD_SAVE_PATH: sandbox.path(`${name}-in`) } });
const it = pageTest({ ada: (sandbox) => env(sandbox, 'ada'), ben: (sandbox) => env(sandbox, 'ben') });

describe.runIf(HAS_BROWSER)('two people with a page each', () => {
  it('drop, send and accept a file and a folder tree', async ({ ada, ben, sandbox }) => {
    await mkdir(sandbox.path('tree', 'deep', 'empty'), { recursive: true });
    await writeFile(sandbox.path('tree', 'deep', 'ünï.txt'), 'deep');
    await writeFile(sandbox.path('note.txt'), 'a note');
    await ada.drop([sandbox.path('note.txt'), sandbox.path('tree')], ada.page.locator('main'));
    await ada.page.getByRole('heading', { name: '2 items' }).waitFor();
    await ada.picture('send-gathered');
    const code = await ada.createCode();
    expect(code).toMatch(/^\d+-[a-z]+-[a-z]+$/);
    await ada.picture('send-code');

    await ben.receive(code);
    const offer = ben.page.getByRole('region', { name: 'Waiting for your answer' });
    await offer.getByText('note.txt').waitFor();
    await offer.getByText('tree').first().waitFor();
    await ben.picture('receive-offer');
    await offer.getByRole('button', { name: 'Accept' }).click();
    await ben.page.getByRole('region', { name: 'What you receive' }).getByText(/^Done/).first().waitFor();
    await ada.page.getByRole('region', { name: 'Your sends' }).getByText(/^Done/).first().waitFor();
    expect(await readFile(sandbox.path('ben-in', 'tree', 'deep', 'ünï.txt'), 'utf8')).toBe('deep');
    expect(await readdir(sandbox.path('ben-in', 'tree', 'deep', 'empty'))).toEqual([]);
    expect(await readFile(sandbox.path('ben-in', 'note.txt'), 'utf8')).toBe('a note');
  });

  it('pick files and a folder, send a text, and discard items', async ({ ada, ben, sandbox }) => {
    await ada.open('send');
    await ada.page.getByTestId('pick-files').setInputFiles([sandbox.path('note.txt')]);
    await ada.page.getByTestId('pick-folders').setInputFiles(sandbox.path('tree'));
    await ada.page.getByRole('heading', { name: '2 items' }).waitFor();
    await ada.page.getByRole('button', { name: 'Remove note.txt' }).click();
    await ada.page.getByRole('heading', { name: '1 item' }).waitFor();
    await ada.page.getByRole('button', { name: 'Discard' }).click();
    await ada.page.getByRole('button', { name: 'Text', exact: true }).click();
    await ada.page.getByLabel('Text to send').fill('a text\n<b>not bold</b>');
    const code = await ada.createCode();
    await ben.receive(code);
    await ben.page.getByRole('button', { name: 'Accept' }).click();
    await ben.page.getByText('<b>not bold</b>').waitFor();
    await ben.picture('receive-text');
    // A text has no files to count.
    await ada.card('Text').getByText('Done', { exact: true }).waitFor();
  });

  it('decline an offer, mistype a code, and see why it failed', async ({ ada, ben, sandbox }) => {
    await ada.open('send');
    await ada.page.getByTestId('pick-files').setInputFiles([sandbox.path('note.txt')]);
    const code = await ada.createCode();
    const [number = ''] = code.split('-');
    await ben.receive(`${number}-guitar-guitar`);
    const { page } = ben;
    const field = page.getByLabel('Code from the sender');
    const said = page.locator('form').getByRole('alert');
    await said.getByText(/The code is wrong/).waitFor();
    await ben.picture('receive-wrong-code');
    expect(await ben.barriers()).toEqual([]);
    // The typed code stays, so that the user can correct it; no button retries the wrong code.
    expect(await field.inputValue()).toBe(`${number}-guitar-guitar`);
    expect(await page.getByRole('button', { name: 'Receive', exact: true }).isDisabled()).toBe(true);
    await page
      .getByRole('region', { name: 'What you receive' })
      .getByRole('button', { name: 'Remove' })
      .first()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    const { transfers } = await (await ben.daemon.own()).call('transfers', {}, { signal: ben.daemon.signal });
    const failed = transfers.find(({ error }) => error?.code === 'CODE_WRONG')?.id ?? 0;
    await expect(ben.daemon.control(failed, 'retry')).rejects.toMatchObject({ code: 'USAGE' });
    await ada.page.getByText(/A wrong code was entered. 2 more/).waitFor();
    // The code survives a change of view, too.
    await ben.open('send');
    await ben.open('receive');
    expect(await field.inputValue()).toBe(`${number}-guitar-guitar`);
    await ben.receive(code);
    await ben.page.getByRole('button', { name: 'Refuse' }).click();
    expect(await field.inputValue()).toBe('');
    await ada.page
      .getByRole('region', { name: 'Your sends' })
      .getByText(/declined/)
      .first()
      .waitFor();
    await ada.picture('send-refused');
  });

  it('complete the words of a code with the keyboard alone', async ({ ben }) => {
    await ben.open('receive');
    const field = ben.page.getByLabel('Code from the sender');
    await field.fill('');
    await field.pressSequentially('7-guit');
    const words = ben.page.getByRole('listbox', { name: 'Matching words' });
    await words.getByRole('option', { name: 'guitar' }).waitFor();
    await ben.picture('receive-completion');
    await ben.page.keyboard.press('ArrowDown');
    await ben.page.keyboard.press('Enter');
    expect(await field.inputValue()).toMatch(/^7-guitar-?$/);
    await field.fill('');
  });

  it('keep a typed word unless they choose one from the list', async ({ ben }) => {
    const { page } = ben;
    await ben.open('receive');
    const field = page.getByLabel('Code from the sender');
    const words = page.getByRole('listbox', { name: 'Matching words' });
    const type = async (text: string) => {
      await field.fill('');
      await field.pressSequentially(text);
      await words.getByRole('option').first().waitFor();
    };
    await type('7-gui');
    for (const _ of ['closes the list', 'does nothing']) {
      await field.press('Escape');
      await words.waitFor({ state: 'hidden' });
      expect(await field.inputValue()).toBe('7-gui');
    }
    await type('7-gui');
    await words.getByRole('option', { name: 'guitar' }).hover();
    await field.press('Home');
    await page.getByRole('button', { name: 'Paste', exact: true }).focus();
    await words.waitFor({ state: 'hidden' });
    expect(await field.inputValue()).toBe('7-gui');
    await type('7-gui');
    await field.press('Tab');
    await expect.poll(() => field.inputValue()).toBe('7-guide-');
    await type('7-gui');
    await words.getByRole('option', { name: 'guitar' }).click();
    await expect.poll(() => field.inputValue()).toBe('7-guitar-');
    await type('7-guitar-pen');
    const request = page.waitForRequest('**/api/Receive');
    await field.press('Enter');
    expect((await request).postDataJSON()).toMatchObject({ code: '7-guitar-pen' });
    await field.fill('');
  });

  it('leave the console empty', ({ ada, ben }) => {
    expect([...ada.complaints, ...ben.complaints]).toEqual([]);
  });
});
