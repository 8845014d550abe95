// SPDX-License-Identifier: MPL-2.0
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { describe, expect } from 'vitest';
import { HAS_BROWSER } from '../people/browser.ts';
import { LISTEN, pageTest } from './page-test.ts';
import { Person, VIEWS } from './person.ts';

const it = pageTest({ ben: (sandbox) => ({ env: { ...LISTEN, KD_SAVE_PATH: sandbox.path('ben-in') } }) });

/** Adds a contact by the link in that person's page. */
async function add(who: Person, name: string, whom: Person): Promise<void> {
  const { link } = await (await whom.daemon.own()).call('identity', {}, { signal: whom.daemon.signal });
  await who.open('people');
  const { page } = who;
  await page.getByRole('button', { name: 'Add someone' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add someone' });
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Link or fingerprint').fill(link);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText(`${name} was added`).waitFor();
}

describe.runIf(HAS_BROWSER)('people', () => {
  it('can save each other when they use a code', async ({ ada, ben, sandbox }) => {
    await writeFile(sandbox.path('note.txt'), 'hello');
    await ada.open('send');
    const { page } = ada;
    await page
      .getByTestId('pick-files')
      .first()
      .setInputFiles([sandbox.path('note.txt')]);
    await page.getByText('Options').click();
    await page.getByLabel('Save the other side as').fill('Benedict');
    const code = await ada.createCode();
    await ben.open('receive');
    await ben.page.getByText('Options').click();
    await ben.page.getByLabel('Save the other side as').fill('Ada L.');
    await ben.receive(code);
    await ben.page.getByRole('button', { name: 'Accept' }).click();
    for (const [who, name] of [
      [ada, 'Benedict'],
      [ben, 'Ada L.'],
    ] as const) {
      await who.open('people');
      await who.page.getByRole('button', { name: `Send to ${name}` }).waitFor();
      await (await who.daemon.own()).call('removeContact', { name }, { signal: who.daemon.signal });
      await who.page.getByText('No contacts yet').waitFor();
    }
  });

  it('are added, seen as online, and sent to without a code', async ({ ada, ben, sandbox }) => {
    await add(ada, 'Ben', ben);
    await add(ben, 'Ada', ada);
    await ada.page.getByText('Online').first().waitFor();
    await ada.picture('people');
    await writeFile(sandbox.path('plan.txt'), 'a plan');
    await ada.page.getByRole('button', { name: 'Send to Ben' }).click();
    await ada.page
      .getByTestId('pick-files')
      .first()
      .setInputFiles([sandbox.path('plan.txt')]);
    await ada.page.getByRole('button', { name: 'Send to Ben' }).click();
    await ben.open('receive');
    const asked = ben.page.getByRole('region', { name: 'Waiting for your answer' });
    await asked.getByText(/wants to send you files/).waitFor();
    await ben.picture('people-invitation');
    await asked.getByRole('button', { name: 'Accept' }).click();
    await ada.page.getByRole('region', { name: 'Your sends' }).getByText(/^Done/).waitFor();
  });

  it('are verified, renamed, blocked and removed', async ({ ada }) => {
    const { page } = ada;
    await ada.open('people');
    await page.getByRole('button', { name: 'More about Ben' }).click();
    await page.getByRole('button', { name: 'Compare and verify' }).click();
    await ada.picture('people-verify');
    await page.getByRole('button', { name: 'They match' }).click();
    await page.getByText('Verified').first().waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Benjamin');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Send to Benjamin' }).waitFor();
    const more = page.getByRole('button', { name: 'More about Benjamin' });
    if (await more.isVisible()) await more.click();
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByText('Blocked').waitFor();
    await page.getByRole('button', { name: 'Unblock' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No contacts yet').waitFor();
  });
});

describe.runIf(HAS_BROWSER)('settings and history', () => {
  it("change the daemon's settings", async ({ ada, ben }) => {
    const { page } = ada;
    await ada.open('settings');
    await page.getByLabel('Your name for others').fill('Ada of the tests');
    await page.getByRole('button', { name: 'Save' }).first().click();
    const { settings } = await (await ada.daemon.own()).call('settings', {}, { signal: ada.daemon.signal });
    await expect
      .poll(async () => {
        const now = await (await ada.daemon.own()).call('settings', {}, { signal: ada.daemon.signal });
        return now.settings.find(({ key }) => key === 'label')?.value;
      })
      .toBe('Ada of the tests');
    expect(settings.length).toBeGreaterThan(5);
    await page.getByLabel('Language').selectOption({ label: 'Deutsch' });
    await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
    await ada.picture('settings-german');
    await page.getByLabel('Sprache').selectOption({ label: 'Español' });
    await page.getByRole('navigation').getByRole('link', { name: 'Enviar' }).waitFor();
    await page.getByLabel('Idioma').selectOption({ label: 'English' });
    await ben.open('history');
    await ben.page.getByText('plan.txt').first().waitFor();
    await ben.page.getByLabel('Search the history').fill('nothing like it');
    await ben.page.getByText('Nothing found').first().waitFor();
    await ben.page.getByLabel('Search the history').fill('plan');
    await ben.page.getByText('plan.txt').first().waitFor();
  });
});

/** Window sizes for every view. At 200 % zoom a window is half as wide, and its pixels are twice as large. */
const LOOKS = [
  { name: 'phone-dark', axe: true, look: { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } },
  { name: 'light', axe: true, look: { viewport: { width: 1024, height: 768 }, colorScheme: 'light' } },
  { name: 'wide-dark', axe: false, look: { viewport: { width: 3840, height: 2160 }, colorScheme: 'dark' } },
  {
    name: 'zoomed',
    axe: false,
    look: { viewport: { width: 512, height: 384 }, deviceScaleFactor: 2, colorScheme: 'light' },
  },
] as const;

describe.runIf(HAS_BROWSER)('every view', () => {
  it.for(LOOKS)(
    'fits the window and has no accessibility barriers: $name',
    async ({ name, look, axe }, { ben, browser }) => {
      await ben.daemon.send({ text: 'a text that waits' });
      const guest = await Person.before(ben.daemon, browser, look);
      const found: string[] = [];
      for (const view of VIEWS) {
        await guest.open(view);
        await guest.picture(`${view}-${name}`, { whole: name === 'light' });
        if ((await guest.overflow()) > 0) found.push(`${view} is wider than the window`);
        // Violations do not depend on the width, except for elements that a narrow window hides.
        for (const barrier of axe ? await guest.barriers() : []) found.push(`${view}: ${barrier}`);
      }
      expect([...found, ...guest.complaints]).toEqual([]);
      await guest.leave();
    },
  );

  it('is reached and used by keyboard alone, and shows the focus', async ({ ada }) => {
    const { page } = ada;
    await ada.open('send');
    await page.reload();
    await page.getByRole('navigation').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('content');
    const focused = () =>
      page.evaluate<string>(
        `(({ activeElement: e }) => e.getAttribute('aria-label') ?? e.innerText ?? e.name)(document)`,
      );
    const outline = () =>
      page.evaluate<boolean>(`(({ outlineStyle, outlineWidth, boxShadow }) =>
        (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none')(getComputedStyle(document.activeElement))`);
    const seen: string[] = [];
    for (let i = 0; i < 40 && !seen.some((text) => text.trim() === 'Text'); i++) {
      await page.keyboard.press('Tab');
      seen.push(await focused());
      expect([seen.at(-1), await outline()]).toEqual([seen.at(-1), true]);
    }
    await page.keyboard.press('Enter');
    await page.keyboard.type('typed');
    await page.keyboard.press('Control+Enter');
    await page.getByTestId('code').waitFor();
  });

  it('says what to do when the daemon is gone, or the address has no key', async ({ ada, browser }) => {
    const { page } = ada;
    const stranger = await browser.newPage();
    await stranger.goto(new URL('/', page.url()).href.replace(/#.*/, ''));
    await stranger.getByText('This page has no key to your KeibiDrop').waitFor();
    await stranger.context().close();
    ada.daemon.running.kill();
    await page.getByText('The background service has stopped answering').waitFor();
    await ada.picture('daemon-gone');
    await ada.daemon.running.ended;
    const { port, href } = new URL(page.url());
    expect(href).not.toMatch(/ticket|token/);
    // Another program of this computer takes the port: the page sends it no secret.
    const shown: string[] = [];
    const squatter = createServer(({ method, url, headers }, response) => {
      shown.push(`${method} ${url?.replace(/[0-9a-f]{32}/, 'N')} ${headers.cookie} ${headers.authorization}`);
      response.end('mine');
    });
    await new Promise<void>((resolve) => squatter.listen(Number(port), '127.0.0.1', resolve));
    await expect.poll(() => shown.length).toBeGreaterThan(1);
    squatter.closeAllConnections();
    await new Promise((resolve) => squatter.close(resolve));
    expect([...new Set(shown)]).toEqual(['GET /proof/N undefined undefined']);
    // Reconnects by itself, and at the same address: after a reload, and from a bookmark.
    await ada.daemon.replace();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByText('Ready').waitFor();
    await page.reload();
    await page.getByText('Ready').waitFor();
    const bookmark = await page.context().newPage();
    await bookmark.goto(new URL('/', href).href);
    await bookmark.getByText('Ready').waitFor();
    await bookmark.close();
  });
});
