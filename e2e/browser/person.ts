// SPDX-License-Identifier: MPL-2.0
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';

const OUTPUT = fileURLToPath(new URL('output', import.meta.url));

/** Longer than any wait on a busy machine, so it ends only tests that hang. */
const HANGS_MS = 240_000;
/** A person stays for all tests of a file, which a busy machine makes long. */
const STAYS_MS = 1_200_000;

export const VIEWS = ['send', 'receive', 'transfers', 'people', 'mounts', 'history', 'settings'] as const;
export type View = (typeof VIEWS)[number];

export interface GuestOptions {
  look?: BrowserContextOptions | undefined;
  /** False: this browser has not shown the welcome pages yet. */
  welcomed?: boolean | undefined;
}

export interface ArrivalOptions extends GuestOptions {
  /** The environment of the person's daemon. */
  env?: Record<string, string>;
}

const MIB = 2 ** 20;

/** Makes a file without holes. @returns  its path */
export async function fileOf(sandbox: Sandbox, name: string, mebibytes: number): Promise<string> {
  const path = sandbox.path(name);
  const file = await open(path, 'w');
  const piece = Buffer.alloc(MIB, name);
  for (let written = 0; written < mebibytes; written++) await file.write(piece);
  await file.close();
  return path;
}

/** A user with a daemon and its page in a browser; records what the browser complains of. */
export class Person {
  readonly daemon: OwnDaemon;
  readonly page: Page;
  /** Errors in the page that no test caused on purpose. */
  readonly complaints: string[] = [];
  readonly #url: string;

  static async arrive(
    sandbox: Sandbox,
    browser: Browser,
    name: string,
    { look, env = {}, welcomed }: ArrivalOptions = {},
  ): Promise<Person> {
    const daemon = await OwnDaemon.start(sandbox, name, { env, timeoutMs: STAYS_MS });
    return Person.before(daemon, browser, look, { welcomed });
  }

  /** Opens the page of a running daemon in a new browser context. */
  static async before(
    daemon: OwnDaemon,
    browser: Browser,
    look: BrowserContextOptions = {},
    { welcomed = true }: Pick<GuestOptions, 'welcomed'> = {},
  ): Promise<Person> {
    const { event } = await daemon.command('ui');
    const context = await browser.newContext({
      viewport: { width: 1024, height: 768 },
      reducedMotion: 'reduce',
      ...look,
    });
    context.setDefaultTimeout(HANGS_MS);
    const person = new Person(daemon, await context.newPage(), event.url as string);
    if (welcomed) await person.page.addInitScript("localStorage.setItem('welcomed', 'yes')");
    await person.page.goto(person.#url);
    if (welcomed) await person.skipWelcome();
    return person;
  }

  private constructor(daemon: OwnDaemon, page: Page, url: string) {
    this.daemon = daemon;
    this.page = page;
    this.#url = url;
    page.on('pageerror', (error) => this.complaints.push(error.stack ?? error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text());
    });
  }

  /** The complaints, without the browser's own about each reply that refuses something. */
  mistakes(): string[] {
    return this.complaints.filter((text) => !text.startsWith('Failed to load resource'));
  }

  /** A new browser shows the welcome pages first. */
  async skipWelcome(): Promise<void> {
    const navigation = this.page.getByRole('navigation');
    const skip = this.page.getByRole('button', { name: 'Skip', exact: true });
    await navigation.or(skip).first().waitFor();
    if (await skip.isVisible()) await skip.click();
    await navigation.waitFor();
  }

  async open(view: View, item?: string | number): Promise<void> {
    const { page } = this;
    // Sets the hash of the address, as links do.
    await page.evaluate(
      (hash) => {
        (globalThis as unknown as { location: { hash: string } }).location.hash = hash;
      },
      item === undefined ? `#/${view}` : `#/${view}/${item}`,
    );
    await page.locator('main h1').first().waitFor();
  }

  /** Sends the gathered items. @returns  the code that the page shows */
  async createCode(): Promise<string> {
    const { page } = this;
    await page.getByRole('button', { name: 'Create a code' }).click();
    return ((await page.getByTestId('code').first().textContent()) ?? '').trim();
  }

  async receive(code: string): Promise<void> {
    await this.open('receive');
    await this.page.getByLabel('Code from the sender').fill(code);
    await this.page.getByRole('button', { name: 'Receive', exact: true }).click();
  }

  /** The card of a transfer in the open view. */
  card(name: string): Locator {
    return this.page.getByRole('article', { name }).first();
  }

  /** Drops files and folders of this machine on `at`, as the mouse does. */
  async drop(paths: readonly string[], at: Locator): Promise<void> {
    const { page } = this;
    const session = await page.context().newCDPSession(page);
    const box = await at.boundingBox();
    const [x, y] = box === null ? [200, 200] : [box.x + box.width / 2, box.y + box.height / 2];
    const data = { items: [], files: [...paths], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await session.send('Input.dispatchDragEvent', { type, x, y, data });
    }
    await session.detach();
  }

  /** Saves a screenshot for people to look at. */
  async picture(name: string, { whole = false } = {}): Promise<void> {
    await mkdir(OUTPUT, { recursive: true });
    await this.page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: whole });
  }

  /** Accessibility violations that axe rates serious or critical, one per line. */
  async barriers(): Promise<string[]> {
    const { page } = this;
    await page.evaluate(`globalThis.axe ?? (0, eval)(${JSON.stringify(axe.source)}); undefined`);
    return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) =>
      (passes.length > 10 ? violations : [{ id: 'axe', impact: 'serious', nodes: [{ target: ['looked at nothing'], failureSummary: '' }] }])
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
          id + ': ' + target.join(' ') + ': ' + failureSummary.split('\\n').slice(1, 2).join('').trim())))`);
  }

  /** By how many pixels the page is wider than the window: pages must not scroll sideways. */
  overflow(): Promise<number> {
    return this.page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  }

  /** Words that are broken for lack of width, and words that stick out of their link or button. */
  cramped(): Promise<string[]> {
    return this.page.evaluate<string[]>(`(() => {
      const found = new Set();
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
        const around = text.parentElement;
        // Text that only screen readers get is one pixel wide.
        if (!around.checkVisibility() || around.getBoundingClientRect().width <= 1) continue;
        const { right = Infinity } = around.closest('a, button')?.getBoundingClientRect() ?? {};
        let cut = false;
        for (let each = around; each !== null; each = each.parentElement) cut ||= getComputedStyle(each).textOverflow === 'ellipsis';
        for (const { 0: word, index } of text.data.matchAll(/\\p{L}{2,24}/gu)) {
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          const pieces = [...range.getClientRects()].filter(({ width }) => width > 0);
          if (new Set(pieces.map(({ top }) => Math.round(top))).size > 1) found.add(word + ' is broken');
          if (!cut && pieces.some((piece) => piece.right > right + 1)) found.add(word + ' sticks out');
        }
      }
      return [...found];
    })()`);
  }

  async leave(): Promise<void> {
    await this.page.context().close();
  }
}
