// SPDX-License-Identifier: MPL-2.0

// render: the cost of the page while 20 transfers run at full speed, from a trace of Debian's Chromium; and its growth
// in an hour of use.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { pageDaemon } from './page-daemon.mjs';
import { mainThreadOf, slope } from './renderer-trace.mjs';

const TRANSFERS = 20;
const FILE_BYTES = 384 * 2 ** 20;
const MINUTES = 60;
const TRANSFERS_A_MINUTE = 10;
/** By then the daemon's list is full at 200 ended transfers, and code and pools are warm. */
const SETTLED_MINUTES = 25;
const BAR_SHARE = 0.1;
const BAR_FRAME_MS = 50;
const BAR_BYTES_A_MINUTE = 16 * 1024;
const MIB = 2 ** 20;
const QUIET = ['background-networking', 'quic', 'sync', 'component-update'].map((what) => `--disable-${what}`);

export async function prepare(workspace) {
  const source = await workspace.randomFile('large', workspace.scaled(FILE_BYTES));
  const sender = await pageDaemon(workspace, 'sender');
  const receiver = await pageDaemon(workspace, 'receiver');
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--no-first-run', '--enable-precise-memory-info', ...QUIET],
  });
  const people = { sender, receiver, browser };
  return {
    title: 'the page in Chromium while 20 transfers run at full speed, and over an hour',
    runs: 1,
    warmUp: false,
    cases: [
      { name: `${TRANSFERS} transfers, list`, run: () => watched(workspace, people, source, '#/transfers') },
      {
        name: `${TRANSFERS} transfers, one with its chart and files`,
        run: () => watched(workspace, people, source, 'one'),
      },
      { name: `an hour, ${TRANSFERS_A_MINUTE} transfers a minute`, run: () => hour(workspace, people) },
    ],
    table: (_, samples) => tableOf([...samples].map(([name, [sample]]) => ({ name, ...sample }))),
    bars: (_, samples) => [...samples].flatMap(([name, [sample]]) => barsOf(name, sample)),
    async close() {
      await browser.close();
      await Promise.all([sender.stop(), receiver.stop()]);
      await rm(source);
    },
  };
}

/** Traces the receiver's page while all transfers run. */
async function watched(workspace, { sender, receiver, browser }, source, view) {
  const page = await opened(browser, receiver);
  const out = workspace.path(`in-${Math.random()}`);
  const begun = await Promise.all(
    Array.from({ length: TRANSFERS }, async (_, i) => {
      const code = await sender.offer({ paths: [source], now: true });
      return receiver.call('Receive', { code, yes: true, out: `${out}/${i}` });
    }),
  );
  const ids = begun.map(({ transfer }) => transfer.id);
  const hash = view === 'one' ? `#/transfers/${ids[0]}` : view;
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  const session = await page.context().newCDPSession(page);
  const started = performance.now();
  const trace = await traced(session, () => receiver.ended(ids));
  const seconds = (performance.now() - started) / 1000;
  const { busyMs, longestMs, longestBusyMs, frames } = mainThreadOf(trace);
  await page.context().close();
  await rm(out, { recursive: true });
  return { seconds, cpu: busyMs / 1000, rss: 0, share: busyMs / 1000 / seconds, longestMs, longestBusyMs, frames };
}

/** Runs real transfers while the page's clock runs ahead: one minute for every ten transfers. */
async function hour(workspace, { sender, receiver, browser }) {
  const page = await opened(browser, receiver, { clock: true });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const small = workspace.path('small');
  await mkdir(small, { recursive: true });
  await writeFile(`${small}/file`, 'a small file');
  const out = workspace.path('hour');
  const started = performance.now();
  const taken = [];
  const views = ['#/transfers', '#/receive', '#/history', '#/people', '#/send', '#/settings'];
  for (let minute = 1; minute <= workspace.scaled(MINUTES); minute++) {
    const ids = [];
    for (let i = 0; i < TRANSFERS_A_MINUTE; i++) {
      const code = await sender.offer({ paths: [small] });
      const { transfer } = await receiver.call('Receive', { code, yes: true, out: `${out}/${minute}` });
      ids.push(transfer.id);
    }
    await receiver.ended(ids);
    await page.evaluate(
      (to) => {
        location.hash = to;
      },
      minute % 2 === 0 ? `#/transfers/${ids[0]}` : views[(minute >> 1) % views.length],
    );
    await page.clock.runFor(60_000);
    taken.push({ minute, ...(await heapOf(session)) });
  }
  await page.context().close();
  const settled = taken.filter(({ minute }) => minute > (SETTLED_MINUTES * taken.length) / MINUTES);
  const grows = slope(settled.map(({ minute, bytes }) => [minute, bytes]));
  return { seconds: (performance.now() - started) / 1000, cpu: 0, rss: taken.at(-1).bytes, grows, taken };
}

/** The heap after a garbage collection. */
async function heapOf(session) {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize: bytes } = await session.send('Runtime.getHeapUsage');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (wanted) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
  return { bytes, nodes: of('Nodes'), listeners: of('JSEventListeners') };
}

async function opened(browser, { url }, { clock = false } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  if (clock) await page.clock.install();
  await page.goto(url);
  const navigation = page.getByRole('navigation');
  const skip = page.getByRole('button', { name: 'Skip', exact: true });
  await navigation.or(skip).first().waitFor();
  if (await skip.isVisible()) await skip.click();
  await navigation.waitFor();
  return page;
}

/** Traces the browser during `act`. */
async function traced(session, act) {
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  const categories = 'toplevel,devtools.timeline,disabled-by-default-devtools.timeline.frame,__metadata';
  await session.send('Tracing.start', { transferMode: 'ReportEvents', categories });
  await act();
  await session.send('Tracing.end');
  await complete;
  return events;
}

function tableOf(rows) {
  const lines = rows.map(({ name, seconds, share, longestMs, longestBusyMs, frames, rss, grows }) => {
    const drawn =
      share === undefined
        ? '– | – | – | –'
        : `${(100 * share).toFixed(1)} % | ${longestMs.toFixed(1)} | ${longestBusyMs.toFixed(1)} | ${frames}`;
    const heap = grows === undefined ? '– | –' : `${(rss / MIB).toFixed(1)} | ${(grows / 1024).toFixed(1)}`;
    return `| ${name} | ${seconds.toFixed(1)} | ${drawn} | ${heap} |`;
  });
  return [
    '| case | seconds | main thread of one core | longest task ms | its CPU ms | frames | heap at the end MiB | grows KiB a minute |',
    '|---|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

function barsOf(name, { share, longestMs, grows, taken }) {
  if (taken !== undefined) {
    const [first, last] = [taken[Math.floor((SETTLED_MINUTES * taken.length) / MINUTES)], taken.at(-1)];
    return [
      {
        text: `${name}: the heap grew by ${(grows / 1024).toFixed(1)} KiB a minute once the list was full, bar ${BAR_BYTES_A_MINUTE / 1024}; ${first.nodes} nodes and ${first.listeners} listeners there, ${last.nodes} and ${last.listeners} at the end`,
        met: grows <= BAR_BYTES_A_MINUTE,
      },
    ];
  }
  return [
    { text: `${name}: ${(100 * share).toFixed(1)} % of one core, bar ${100 * BAR_SHARE} %`, met: share < BAR_SHARE },
    { text: `${name}: no task over ${longestMs.toFixed(1)} ms, bar ${BAR_FRAME_MS}`, met: longestMs <= BAR_FRAME_MS },
  ];
}
