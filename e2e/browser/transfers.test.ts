// SPDX-License-Identifier: MPL-2.0
import { mkdir, stat } from 'node:fs/promises';
import { afterEach, describe, expect } from 'vitest';
import { run } from '../harness/sandbox.ts';
import { HAS_BROWSER } from '../people/browser.ts';
import { LISTEN, type PageFixtures, pageTest } from './page-test.ts';
import { fileOf } from './person.ts';

const MIB = 2 ** 20;
const MANY = 100_000;

const LOST_SOON = { ...LISTEN, KD_HEARTBEAT_MS: '500', KD_PATIENCE: '1m' };
const it = pageTest({
  ada: (sandbox) => ({ env: { ...LOST_SOON, KD_SAVE_PATH: sandbox.path('ada-in') } }),
  ben: (sandbox) => ({ env: { ...LOST_SOON, KD_SAVE_PATH: sandbox.path('ben-in') } }),
});

afterEach<PageFixtures>(async ({ task, ada, ben }) => {
  if (task.result?.state !== 'fail') return;
  await Promise.all([ada.picture('transfers-failed-ada'), ben.picture('transfers-failed-ben')]);
});

const reach = (mebibytes: number) => ({ limit: mebibytes * MIB, directOnly: false, relayOnly: false });

/** A transfer between the two daemons, shown in both pages. */
async function running(
  { ada, ben }: PageFixtures['people'],
  path: string,
  mebibytes: number,
): Promise<{ sending: number; receiving: number }> {
  const { id: sending, code } = await ada.daemon.send({ paths: [path], reach: reach(mebibytes) });
  await ada.open('transfers', sending);
  const receiving = await ben.daemon.receive({ code, yes: true });
  await ben.open('transfers', receiving);
  return { sending, receiving };
}

describe.runIf(HAS_BROWSER)('a transfer in the page', () => {
  it('of 1 GiB shows its speed, time left, connection and encryption, and a moving chart, until it is done', async ({
    ada,
    ben,
    sandbox,
  }) => {
    const path = await fileOf(sandbox, 'large.bin', 1024);
    const { receiving } = await running({ ada, ben }, path, 300);
    const { page } = ben;
    await page.getByText('Time left').waitFor();
    const chart = page.getByRole('img', { name: 'Speed over the last two minutes' });
    const pictures: Buffer[] = [];
    const moved = () => new Set(pictures.map((picture) => picture.toString('base64'))).size;
    while (moved() < 3) pictures.push(await chart.screenshot());
    await ada.picture('transfer-sending');
    await ben.picture('transfer-receiving');
    const facts = page.locator('dl').last();
    expect(await facts.textContent()).toMatch(/same computer[\s\S]*(AES|aes|chacha)/i);
    await page.getByRole('status').getByText(/^Done/).waitFor();
    await ada.page.getByRole('status').getByText(/^Done/).waitFor();
    expect(
      await page
        .getByText('1 GiB of 1 GiB')
        .or(page.getByText(/1[.,]07 GB of 1[.,]07 GB/))
        .count(),
    ).toBe(1);
    expect((await stat(sandbox.path('ben-in', 'large.bin'))).size).toBe(1024 * MIB);
    await ben.picture('transfer-done');
    expect((await ben.daemon.state(receiving, 'done')).bytes).toBe(1024 * MIB);
  });

  it('is paused, resumed, cancelled, retried and removed from the list', async ({ ada, ben, sandbox }) => {
    const { receiving } = await running({ ada, ben }, await fileOf(sandbox, 'long.bin', 512), 16);
    const { page } = ben;
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('status').getByText('Paused', { exact: true }).waitFor();
    await ada.page.getByRole('status').getByText('Paused by the other side').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await ada.page.getByText('Time left').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled').first().waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Time left').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove from the list' }).click();
    await page.getByText('This transfer is no longer in the list').waitFor();
    await expect(ben.daemon.control(receiving, 'cancel')).rejects.toMatchObject({ code: 'TRANSFER_UNKNOWN' });
    await ada.page.locator('header').getByRole('button', { name: 'Cancel' }).click();
    await ada.page.getByText('Cancelled').first().waitFor();
  });

  it('says that its peer is lost, and continues when the peer is back', async ({ ada, ben, sandbox }) => {
    const { sending } = await running({ ada, ben }, await fileOf(sandbox, 'lost.bin', 192), 24);
    await ada.page.getByText('Time left').waitFor();
    ben.daemon.running.kill('SIGSTOP');
    try {
      await ada.page
        .getByRole('status')
        .getByText(/Waiting|lost/i)
        .first()
        .waitFor();
      await ada.picture('transfer-peer-lost');
    } finally {
      ben.daemon.running.kill('SIGCONT');
    }
    await ada.page.getByText('Time left').waitFor();
    await ada.page.getByRole('status').getByText(/^Done/).waitFor();
    await ben.page.getByRole('status').getByText(/^Done/).waitFor();
    expect((await ada.daemon.state(sending, 'done')).peers).toMatchObject([{ session: 1, state: 'done' }]);
  });

  it('of 100,000 files is offered in full, and its long list scrolls to the end with few elements', async ({
    ada,
    ben,
    sandbox,
  }) => {
    const folder = sandbox.path('many');
    await mkdir(folder);
    run('sh', '-c', `cd ${folder} && seq -f 'file-%06.0f' 0 ${MANY - 1} | xargs touch`);
    const { code } = await ada.daemon.send({ paths: [folder] });
    const receiving = await ben.daemon.receive({ code });
    await ben.open('transfers', receiving);
    const { page } = ben;
    await page.getByRole('button', { name: 'Accept' }).waitFor();
    await page
      .getByText(/100,000 files/)
      .first()
      .waitFor();
    const list = page.getByRole('region', { name: 'Files' }).last();
    await list.getByRole('listitem').first().waitFor();
    await ben.picture('transfer-100000-offer');
    await list
      .locator(`[aria-setsize="${MANY + 1}"]`)
      .first()
      .waitFor();
    await list.focus();
    await page.keyboard.press('End');
    await list
      .getByText(/file-\d{6}/)
      .last()
      .waitFor();
    await expect.poll(() => list.locator(`[aria-posinset="${MANY + 1}"]`).textContent()).toMatch(/file-\d{6}/);
    expect(await list.getByRole('listitem').count()).toBeLessThan(100);
    await page.getByLabel('Filter by name').fill('file-09999');
    await page.getByRole('status').getByText('10 entries').waitFor();
    await ben.picture('transfer-100000-filtered');
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page
      .getByText(/declined/)
      .first()
      .waitFor();
  });

  it('leaves the console empty', ({ ada, ben }) => {
    expect([...ada.complaints, ...ben.complaints]).toEqual([]);
  });
});
