// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import type { Mailboxes, MailboxStore } from './mailbox.ts';
import { RedisLink } from './redis-link.ts';
import { SharedMailboxes } from './shared-mailboxes.ts';

/** One server's part in mailboxes that several servers share. */
export class MailboxShare {
  readonly #server: string;
  readonly #link: RedisLink;
  #mailboxes: SharedMailboxes | undefined;

  /** @throws CONFIG_INVALID if Redis cannot be used */
  static async open(url: string): Promise<MailboxShare> {
    const server = randomBytes(16).toString('hex');
    return new MailboxShare(server, await RedisLink.open({ url, server }));
  }

  private constructor(server: string, link: RedisLink) {
    this.#server = server;
    this.#link = link;
  }

  /** @param onChange  called when the connection to Redis is lost or restored */
  of(local: Mailboxes, onChange: (change: { state: 'lost' | 'back'; reason?: string }) => void): MailboxStore {
    this.#mailboxes = new SharedMailboxes(local, this.#link, this.#server);
    this.#link.begin({
      onMessage: (bytes) => this.#mailboxes?.hear(bytes),
      onUp: () => {
        onChange({ state: 'back' });
        void this.#mailboxes?.renewAll();
      },
      onDown: (reason) => {
        onChange({ state: 'lost', reason });
        this.#mailboxes?.endFar();
      },
    });
    return this.#mailboxes;
  }

  /** Why mailboxes cannot be shared at the moment; undefined if they can. */
  get trouble(): string | undefined {
    const { trouble } = this.#link;
    return trouble === undefined ? undefined : `no redis: ${trouble}`;
  }

  close(): void {
    this.#mailboxes?.close();
    this.#link.close();
  }
}
