// SPDX-License-Identifier: MPL-2.0
import { setTimeout } from 'node:timers/promises';
import type { local } from '@keibidrop/proto';
import { fingerprintPhrase, formatFingerprint, KeibiError } from '@keibidrop/protocol';
import type { Contact } from '../contacts/contact.ts';
import { ContactStore } from '../contacts/contact-store.ts';
import type { EventJson } from '../event-json.ts';
import type { EventStream } from './event-stream.ts';

/** Until contacts that could not be read are looked at again. */
const RETRY_MS = 30_000;

export interface ContactDeskOptions {
  /** The configuration directory. */
  directory: string;
  events: EventStream;
  /** Called with what went wrong where no client waits for it. */
  onTrouble(error: KeibiError): void;
}

/** The daemon's contacts: what there is of them now, told to all clients whenever it changes. */
export class ContactDesk {
  readonly store: ContactStore;
  readonly #options: ContactDeskOptions;
  readonly #closing = new AbortController();
  #known: readonly Contact[] = [];
  #watching: Promise<void> = Promise.resolve();

  constructor(options: ContactDeskOptions) {
    this.#options = options;
    this.store = new ContactStore(options);
  }

  /** Begins to watch them. */
  open(): void {
    this.#watching = this.#watch();
  }

  /** All of them, as clients are told. */
  event(): EventJson {
    return { event: 'contacts', contacts: this.#known.map((contact) => this.view(contact)) };
  }

  view({ name, fingerprint, verified, blocked, rule, added, lastSeen }: Contact): local.Contact {
    return {
      name,
      fingerprint: formatFingerprint(fingerprint),
      words: fingerprintPhrase(fingerprint),
      verified,
      blocked,
      rule: rule.kind,
      folder: rule.kind === 'accept' ? rule.folder : undefined,
      added: added.getTime(),
      lastSeen: lastSeen?.getTime(),
      online: false,
    };
  }

  async close(): Promise<void> {
    this.#closing.abort(new KeibiError('CANCELLED'));
    await this.#watching;
  }

  /** A file that makes no sense is told once it is touched, and does not end the watch. */
  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    const { events, onTrouble } = this.#options;
    while (!signal.aborted) {
      try {
        for await (const contacts of this.store.watch({ signal })) {
          this.#known = contacts;
          events.emit(0, this.event());
        }
      } catch (reason) {
        if (signal.aborted) return;
        onTrouble(KeibiError.from(reason, 'INTERNAL'));
        await setTimeout(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }
}
