// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { HAS_BROWSER } from '../people/browser.ts';
import { LISTEN, pageTest } from './page-test.ts';
import { fileOf, Person, VIEWS } from './person.ts';

const HAS_FUSE = existsSync('/dev/fuse');

const it = pageTest({
  async prepare(sandbox) {
    await mkdir(sandbox.path('holiday/more'), { recursive: true });
    await writeFile(sandbox.path('holiday/lake 🏞.jpg'), 'a picture of a lake');
  },
  ben: (sandbox) => ({ env: { ...LISTEN, KD_SAVE_PATH: sandbox.path('ben-in') } }),
});
/** The code of the folder that Ada shares. */
let code: string;

/** Shares a folder by its path. @returns  its code */
async function share(who: Person, path: string): Promise<string> {
  await who.open('mounts');
  const { page } = who;
  await page.getByRole('button', { name: 'Share a folder' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share a folder' });
  await dialog.getByLabel('Folder', { exact: true }).fill(path);
  await dialog.getByRole('button', { name: 'Share', exact: true }).click();
  const code = page.getByRole('list', { name: 'Shared by you' }).locator('output');
  return ((await code.textContent()) ?? '').trim();
}

async function connect(who: Person, code: string): Promise<void> {
  const { page } = who;
  await who.open('mounts');
  await page.getByRole('button', { name: 'Connect to a folder' }).click();
  const dialog = page.getByRole('dialog', { name: 'Connect to a shared folder' });
  await dialog.getByLabel('Code').fill(code);
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('heading', { name: 'holiday' }).waitFor();
}

describe.runIf(HAS_BROWSER)('folders', () => {
  it('are shared, browsed while they change, and received in part', async ({ ada, ben, sandbox }) => {
    code = await share(ada, sandbox.path('holiday'));
    await connect(ben, code);
    const inside = ben.page.getByRole('region', { name: 'Contents of holiday' });
    await inside.getByText('lake 🏞.jpg').waitFor();
    await writeFile(sandbox.path('holiday/new.txt'), 'seen at once');
    await inside.getByText('new.txt').waitFor();
    await ben.picture('folders-inside');
    await inside.getByLabel(/Select new\.txt/).check();
    await ben.page.getByRole('button', { name: 'Receive 1 item' }).click();
    await ben.page.getByText('Done').first().waitFor();
    expect(await readFile(sandbox.path('ben-in/new.txt'), 'utf8')).toBe('seen at once');
  });

  it.runIf(HAS_FUSE)('are mounted and read by any program', async ({ ben, sandbox }) => {
    const { page } = ben;
    await ben.open('mounts');
    const place = sandbox.path('ben-mount');
    await page.getByRole('button', { name: 'Mount holiday' }).click();
    const dialog = page.getByRole('dialog', { name: 'Mount holiday' });
    await dialog.getByLabel('Mount at').fill(place);
    await dialog.getByRole('button', { name: 'Mount', exact: true }).click();
    await page.getByText('Mounted', { exact: true }).waitFor();
    expect((await readdir(place)).sort()).toEqual(['lake 🏞.jpg', 'more', 'new.txt']);
    expect(await readFile(`${place}/lake 🏞.jpg`, 'utf8')).toBe('a picture of a lake');
    await ben.picture('folders-mounted');
    expect(await ben.barriers()).toEqual([]);
  });

  it('are chosen in a nested dialog, and Escape closes that dialog only', async ({ ben, sandbox }) => {
    const { page } = ben;
    await ben.open('mounts');
    await page.getByRole('button', { name: 'Share a folder' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share a folder' });
    const chooser = page.getByRole('dialog', { name: 'Choose a folder' });
    await dialog.getByLabel('Folder', { exact: true }).fill(sandbox.path('holiday'));
    await dialog.getByRole('button', { name: 'Choose…' }).click();
    await chooser.getByText('~/holiday', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await chooser.waitFor({ state: 'detached' });
    expect(await dialog.getByLabel('Folder', { exact: true }).inputValue()).toBe(sandbox.path('holiday'));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  // Chromium's fallback fonts are wider than those of most desktops.
  it.for(['en', 'de'])(
    'and everything else on the page keep words whole at every width (%s)',
    async (locale, { ada, ben, browser, sandbox }) => {
      const { daemon } = ben;
      if (locale === 'en') {
        await daemon.know('Friederike Schmidt-Rottluff', ada.daemon);
        await daemon.send({ text: 'a text that waits' });
        await daemon.send({ paths: [await fileOf(sandbox, 'Abrechnung der Hausverwaltung.pdf', 1)] });
        await daemon.receive({ code: '1-guitar-pencil', patienceMs: 0 });
        await (await daemon.own()).call('addShare', { path: sandbox.path('holiday') }, { signal: daemon.signal });
      }
      const guest = await Person.before(daemon, browser, { locale });
      const { page } = guest;
      const found: string[] = [];
      for (const width of [390, 900, 1600]) {
        await page.setViewportSize({ width, height: 900 });
        for (const view of VIEWS) {
          await guest.open(view);
          await guest.picture(`layout-${view}-${locale}-${width}`);
          found.push(...(await guest.cramped()).map((what) => `${view} at ${width}: ${what}`));
          if ((await guest.overflow()) > 0) found.push(`${view} at ${width} is wider than the window`);
        }
      }
      expect(found).toEqual([]);
      await guest.leave();
    },
  );

  it('are listed under More on a phone, and the bar does not move', async ({ ben, browser }) => {
    const guest = await Person.before(ben.daemon, browser, { viewport: { width: 390, height: 844 } });
    const bar = guest.page.getByRole('navigation');
    const places = () =>
      Promise.all(
        ['Send', 'Receive', 'Transfers', 'People', 'More'].map(async (name) => {
          const { x, y } = (await bar.getByText(name, { exact: true }).locator('visible=true').boundingBox()) ?? {};
          return [name, x, y];
        }),
      );
    const before = await places();
    await bar.getByRole('button', { name: 'More' }).click();
    await bar.getByRole('link', { name: 'Folders' }).waitFor();
    await guest.picture('layout-more');
    expect(await places()).toEqual(before);
    await bar.getByRole('link', { name: 'Folders' }).click();
    await guest.page.getByRole('heading', { level: 1, name: 'Folders' }).waitFor();
    await guest.leave();
  });

  it.runIf(HAS_FUSE)('are unmounted', async ({ ben, sandbox }) => {
    const { page } = ben;
    await page.getByRole('button', { name: 'Unmount ~/ben-mount' }).click();
    await page.getByText('Mounted', { exact: true }).waitFor({ state: 'detached' });
    expect(existsSync(sandbox.path('ben-mount/more'))).toBe(false);
  });

  it('show why mounting is impossible on this computer', async ({ browser, sandbox }) => {
    // Without its PATH the daemon finds no fusermount3, which fuse-native does not need.
    const cy = await Person.arrive(sandbox, browser, 'cy', {
      env: { ...LISTEN, PATH: sandbox.path('nowhere'), KD_MOUNT_BACKEND: 'native' },
    });
    await connect(cy, code);
    await cy.open('mounts');
    await cy.page.getByText('Folders cannot be mounted on this computer').waitFor();
    await cy.page.getByText('fusermount3 is missing').waitFor();
    await cy.picture('folders-no-fuse');
    await cy.leave();
  });

  it('are disconnected, and no longer shared', async ({ ada, ben }) => {
    await ben.open('mounts');
    await ben.page.getByRole('button', { name: 'Disconnect holiday' }).first().click();
    await ben.page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).click();
    await ben.page.getByRole('list', { name: 'Shared with you' }).waitFor({ state: 'detached' });
    await ada.open('mounts');
    await ada.page.getByRole('button', { name: 'Stop sharing holiday' }).click();
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Stop sharing', exact: true }).click();
    await ada.page.getByText('No shared folders').waitFor();
    expect([...ada.complaints, ...ben.complaints]).toEqual([]);
  });
});
