// SPDX-License-Identifier: MPL-2.0
import { rm, writeFile } from 'node:fs/promises';
import type { DaemonParts } from './daemon.ts';
import type { BehindDoor, HttpDoor } from './http-door.ts';
import type { LocalGroup } from './local-calls.ts';

/** The HTTP door, open from when somebody first wants the page. */
export class PageDoor {
  readonly #behind: () => BehindDoor;
  readonly #file: string;
  #door: Promise<HttpDoor> | undefined;
  #address: string | undefined;

  /** @param file  leads a browser to the page: this user's alone, for as long as the door is open */
  constructor(behind: () => BehindDoor, file: string) {
    this.#behind = behind;
    this.#file = file;
  }

  /** `HOST:PORT`, if it is open. */
  get address(): string | undefined {
    return this.#address;
  }

  /** Where the page is, and the file that leads there: what a browser is given on its command line every user of the machine can read. */
  async open(): Promise<{ url: string; file: string }> {
    this.#door ??= this.#open();
    const { url } = await this.#door;
    return { url, file: this.#file };
  }

  async close(): Promise<void> {
    if (this.#door === undefined) return;
    await (await this.#door).close();
    await rm(this.#file, { force: true });
  }

  async #open(): Promise<HttpDoor> {
    const { HttpDoor: Door } = await import('./http-door.ts');
    const door = await Door.open(this.#behind());
    this.#address = door.address;
    await rm(this.#file, { force: true });
    await writeFile(this.#file, leadingTo(door.url), { mode: 0o600, flag: 'wx' });
    return door;
  }
}

/** The page in a browser. */
export function pageCalls({ page }: DaemonParts): LocalGroup<'openPage'> {
  return { openPage: () => page.open() };
}

/** @param url  of letters that HTML leaves as they are */
function leadingTo(url: string): string {
  return `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${url}">\n`;
}
