// SPDX-License-Identifier: MPL-2.0
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import { writePrivate } from '@keibidrop/settings/files';
import type { DaemonPlace } from '../daemon-socket.ts';
import type { HttpServer, ServedByHttp } from './http-server.ts';
import { keepPagePlace, readPagePlace } from './page-place.ts';

/** The HTTP server of the page. It opens when the user first wants the page, then at the start of every later daemon. */
export class PageServer {
  /** A file that leads a browser to the page. Only this user can read it; it exists while the HTTP server is open. */
  readonly #launcher: string;
  /** Stores the address of the page for the next daemon. */
  readonly #file: string;
  readonly #behind: () => ServedByHttp;
  readonly #onTrouble: (error: KeibiError) => void;
  #server: Promise<HttpServer> | undefined;
  #address: string | undefined;

  /** @param onTrouble  reports an error that no client waits for */
  constructor(
    place: DaemonPlace,
    stateDir: string,
    behind: () => ServedByHttp,
    onTrouble: (error: KeibiError) => void,
  ) {
    this.#launcher = place.page;
    this.#file = join(stateDir, 'page.json');
    this.#behind = behind;
    this.#onTrouble = onTrouble;
  }

  /** `HOST:PORT`, if it is open. */
  get address(): string | undefined {
    return this.#address;
  }

  /** Reopens it at the earlier address, so that open pages find it. Failures are reported, not thrown. */
  async reopen(): Promise<void> {
    try {
      if ((await readPagePlace(this.#file)) !== undefined) await this.#opened();
    } catch (reason) {
      this.#onTrouble(KeibiError.from(reason, 'INTERNAL'));
    }
  }

  /** Returns a URL that opens once, and a file that leads there: every user of the machine can read a browser's command line. */
  async open(): Promise<{ url: string; file: string; token: string }> {
    const server = await this.#opened();
    const file = this.#launcher;
    const url = server.newUrl();
    await writePrivate(file, Buffer.from(leadingTo(url)), { replace: true }, 'CONFIG_INVALID');
    return { url, file, token: server.token };
  }

  async close(): Promise<void> {
    if (this.#server === undefined) return;
    await (await this.#server).close();
    await rm(this.#launcher, { force: true });
  }

  #opened(): Promise<HttpServer> {
    this.#server ??= this.#open().catch((reason) => {
      this.#server = undefined;
      throw reason;
    });
    return this.#server;
  }

  async #open(): Promise<HttpServer> {
    const kept = await readPagePlace(this.#file);
    const { HttpServer: Server } = await import('./http-server.ts');
    const server = await Server.open(this.#behind(), kept);
    this.#address = server.address;
    if (kept !== undefined && kept.port !== server.place.port) {
      const text = `Another program has port ${kept.port}, so the page has moved to ${server.address}. Open it with keibidrop ui.`;
      this.#onTrouble(new KeibiError('CONFIG_INVALID', text));
    }
    // Without a stored address the page works until the daemon ends.
    if (kept !== server.place) await keepPagePlace(this.#file, server.place).catch(this.#onTrouble);
    return server;
  }
}

/** @param url  only characters that HTML does not escape */
function leadingTo(url: string): string {
  return `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${url}">\n`;
}
