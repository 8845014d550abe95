// SPDX-License-Identifier: MPL-2.0
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Sandbox } from '../harness/sandbox.ts';
import { OwnDaemon } from '../people/own-daemon.ts';

const OUTPUT = fileURLToPath(new URL('output', import.meta.url));

/** Longer than any wait on a machine with much other work: it only ends what hangs. */
const HANGS_MS = 240_000;

export const VIEWS = ['send', 'receive', 'transfers', 'people', 'mounts', 'history', 'settings'] as const;
export type View = (typeof VIEWS)[number];

export interface GuestOptions {
  look?: BrowserContextOptions | undefined;
  /** False: this browser has not shown the first page of all yet. */
  welcomed?: boolean | undefined;
}

const MIB = 2 ** 20;

/** Makes a file of bytes that are no hole. @returns  its path */
export async function fileOf(sandbox: Sandbox, name: string, mebibytes: number): Promise<string> {
  const path = sandbox.path(name);
  const file = await open(path, 'w');
  const piece = Buffer.alloc(MIB, name);
  for (let written = 0; written < mebibytes; written++) await file.write(piece);
  await file.close();
  return path;
}

/** Somebody with a daemon of their own and its page in a browser. Says what the browser complained of. */
export class Person {
  readonly daemon: OwnDaemon;
  readonly page: Page;
  /** What went wrong in the page that nobody meant to. */
  readonly complaints: string[] = [];
  readonly #url: string;

  static async arrive(
    sandbox: Sandbox,
    browser: Browser,
    name: string,
    { look, env = {}, welcomed }: GuestOptions & { env?: Record<string, string> } = {},
  ): Promise<Person> {
    const daemon = await OwnDaemon.start(sandbox, name, { env });
    return Person.before(daemon, browser, look, { welcomed });
  }

  /** Opens the page of a daemon that runs, in a browser of its own. */
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

  /** Its complaints, without those of the browser about each reply that refuses something. */
  mistakes(): string[] {
    return this.complaints.filter((text) => !text.startsWith('Failed to load resource'));
  }

  /** A browser that is new to it is welcomed first. */
  async skipWelcome(): Promise<void> {
    const navigation = this.page.getByRole('navigation');
    const skip = this.page.getByRole('button', { name: 'Skip', exact: true });
    await navigation.or(skip).first().waitFor();
    if (await skip.isVisible()) await skip.click();
    await navigation.waitFor();
  }

  async open(view: View, item?: string | number): Promise<void> {
    const { page } = this;
    // By the address, which is what links change.
    await page.evaluate(
      (hash) => {
        (globalThis as unknown as { location: { hash: string } }).location.hash = hash;
      },
      item === undefined ? `#/${view}` : `#/${view}/${item}`,
    );
    await page.locator('main h1').first().waitFor();
  }

  /** Sends what is gathered. @returns  the code that it shows */
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

  /** The card of a transfer in whatever view is open. */
  card(name: string): Locator {
    return this.page.getByRole('article', { name }).first();
  }

  /** Drops files and folders of this machine where a selector leads, as a hand would. */
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

  /** Keeps a picture to be looked at. */
  async picture(name: string, { whole = false } = {}): Promise<void> {
    await mkdir(OUTPUT, { recursive: true });
    await this.page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: whole });
  }

  /** What axe finds serious or worse, a line each. */
  async barriers(): Promise<string[]> {
    const { page } = this;
    await page.evaluate(`globalThis.axe ?? (0, eval)(${JSON.stringify(axe.source)}); undefined`);
    return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) =>
      (passes.length > 10 ? violations : [{ id: 'axe', impact: 'serious', nodes: [{ target: ['looked at nothing'], failureSummary: '' }] }])
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
          id + ': ' + target.join(' ') + ': ' + failureSummary.split('\\n').slice(1, 2).join('').trim())))`);
  }

  /** How far the page is wider than the window: nobody should have to scroll sideways. */
  overflow(): Promise<number> {
    return this.page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  }

  /** Words that are broken in two for want of room, and those that stick out of their link or button. */
  cramped(): Promise<string[]> {
    return this.page.evaluate<string[]>(`(() => {
      const found = new Set();
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
        const around = text.parentElement;
        // Text for screen readers alone is one pixel wide.
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
