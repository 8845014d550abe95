// SPDX-License-Identifier: MPL-2.0
import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileNewer, isSameFingerprint, KeibiError, type RotationRefusal } from '@keibidrop/protocol';
import type { PublicKeys } from '@keibidrop/session';
import { type FileUse, fileError, readPrivate, withLock, writePrivate } from '@keibidrop/settings/files';

import {
  type Contact,
  type ContactRule,
  clashes,
  decodeContacts,
  digestOf,
  encodeContacts,
  isSameName,
  looksLike,
  MAX_CONTACTS,
  MAX_RENEWALS_A_DAY,
  parseContactName,
  renewsTooOften,
} from './contact.ts';

const FILE = 'contacts.json';
/** A contact takes less than 3 KiB. */
const USE: FileUse = { maxBytes: 4 * 2 ** 20, unusable: 'CONTACTS_CORRUPT' };

/** The fields of a contact that a person may change. */
export interface ContactChange {
  readonly verified?: boolean;
  readonly blocked?: boolean;
  readonly rule?: ContactRule;
}

/** The result of a meeting. */
export interface Encounter {
  /** The contact's, as proved. */
  readonly keys: PublicKeys;
  /** The contact used the mailbox of both keys. */
  readonly paired: boolean;
  /** Our fingerprint in that meeting. */
  readonly self: Uint8Array;
  readonly at: Date;
}

/** New keys that a contact has announced. */
export interface RenewedKeys {
  /** The contact's fingerprint before the change. */
  readonly from: Uint8Array;
  readonly keys: PublicKeys;
  /** Our own fingerprints, which no contact may have. */
  readonly own: readonly Uint8Array[];
  readonly at: Date;
}

/**
 * The contacts of one configuration directory, stored in `contacts.json`. Any number of processes may read and change
 * them at once. If the file cannot be read, every method throws CONTACTS_CORRUPT and the file stays unchanged.
 */
export class ContactStore {
  readonly #directory: string;
  readonly #file: string;

  constructor({ directory }: { directory: string }) {
    this.#directory = directory;
    this.#file = join(directory, FILE);
  }

  /** Sorted by name. */
  async list(): Promise<Contact[]> {
    const contacts = await this.#read();
    return contacts.sort((one, other) => one.name.localeCompare(other.name));
  }

  /** @throws CONTACT_UNKNOWN */
  async get(name: string): Promise<Contact> {
    return named(await this.#read(), name);
  }

  async byFingerprint(fingerprint: Uint8Array): Promise<Contact | undefined> {
    return (await this.#read()).find((contact) => isSameFingerprint(contact.fingerprint, fingerprint));
  }

  /**
   * Saves a contact under a name. If the same name and fingerprint are already saved, only missing keys are added.
   *
   * @throws USAGE for an invalid name, or if another contact has the name or the fingerprint
   */
  async add(who: { name: string; fingerprint: Uint8Array; keys?: PublicKeys }): Promise<Contact> {
    const name = parseContactName(who.name);
    return this.#change((contacts) => {
      const there = contacts.find((contact) => clashes({ ...who, name }, contact));
      if (there === undefined) {
        refuseLookAlike(name, contacts);
        if (contacts.length >= MAX_CONTACTS)
          throw usage(`There are ${MAX_CONTACTS} contacts already, which is the most.`);
        const fresh = {
          verified: false,
          blocked: false,
          rule: { kind: 'ask' },
          paired: false,
          added: new Date(),
        } as const;
        return { ...fresh, name, fingerprint: who.fingerprint.slice(), ...(who.keys && { keys: who.keys }) };
      }
      if (!isSameFingerprint(there.fingerprint, who.fingerprint)) {
        throw usage(`“${there.name}” is another contact. Choose another name, or remove that one first.`);
      }
      if (!isSameName(there.name, name)) {
        throw usage(`That fingerprint is the one of “${there.name}”. Rename that contact instead.`);
      }
      return there.keys === undefined && who.keys !== undefined ? { ...there, keys: who.keys } : there;
    });
  }

  /**
   * Call before our identity changes. No contact has met the next identity, so each is also dialled as on a first
   * contact.
   *
   * @param former  the identity that they know, unless they know an earlier one; undefined: nothing is announced
   * @returns  the number of contacts to which the next identity is announced
   */
  async noteRotation(former: Uint8Array | undefined): Promise<number> {
    if ((await this.#read()).length === 0) return 0;
    return this.#locked(async () => {
      const contacts = await this.#read();
      const noted = contacts.map((contact) => {
        const knowsFormer = contact.knowsFormer ?? former;
        return { ...contact, paired: false, ...(knowsFormer && { knowsFormer }) };
      });
      await this.#write(noted);
      return former === undefined ? 0 : noted.filter(({ blocked }) => !blocked).length;
    });
  }

  /** Notes that the contact knows our current identity or refuses it, so the announcement from `former` is over. */
  async noteHeard(fingerprint: Uint8Array, former: Uint8Array): Promise<void> {
    await this.#change((contacts) => {
      const contact = contacts.find((one) => isSameFingerprint(one.fingerprint, fingerprint));
      if (contact?.knowsFormer === undefined || !isSameFingerprint(contact.knowsFormer, former)) return undefined;
      const { knowsFormer: _, ...heard } = contact;
      return heard;
    });
  }

  /** Returns why the contact cannot have these keys; undefined if it can. */
  async mayRenew(renewed: RenewedKeys): Promise<RotationRefusal | undefined> {
    return refusalOf(await this.#read(), renewed);
  }

  /**
   * Gives the contact new keys, which it has proved. Two people must compare them again.
   * @returns  as `mayRenew`; on a refusal nothing changes
   */
  async renew(renewed: RenewedKeys): Promise<RotationRefusal | undefined> {
    const { from, keys, at } = renewed;
    return this.#locked(async () => {
      const contacts = await this.#read();
      const refusal = refusalOf(contacts, renewed);
      if (refusal !== undefined) return refusal;
      await this.#write(
        contacts.map((contact) => {
          if (!isSameFingerprint(contact.fingerprint, from)) return contact;
          const renewals = [...(contact.renewals ?? []), { from, at }].slice(-MAX_RENEWALS_A_DAY);
          return { ...contact, fingerprint: digestOf(keys), keys, verified: false, paired: false, renewals };
        }),
      );
      return undefined;
    });
  }

  /** All contacts, for sealing into a copy of the identity; undefined if there are none. */
  async copy(): Promise<Uint8Array | undefined> {
    const contacts = await this.#read();
    return contacts.length === 0 ? undefined : encodeContacts(contacts);
  }

  /**
   * Adds the contacts of a copy. Existing contacts stay as they are; a name that is already in use gets a number.
   *
   * @returns  the number of contacts added
   * @throws CONTACTS_CORRUPT if the copy cannot be decoded
   */
  async takeCopy(copy: Uint8Array): Promise<number> {
    const copied = decodeContacts(copy);
    return this.#locked(async () => {
      const contacts = await this.#read();
      const before = contacts.length;
      for (const contact of copied) {
        const known = contacts.some(({ fingerprint }) => isSameFingerprint(fingerprint, contact.fingerprint));
        if (known || contacts.length >= MAX_CONTACTS) continue;
        // The rule's folder belongs to another machine.
        const rule: ContactRule = contact.rule.kind === 'accept' ? { kind: 'ask' } : contact.rule;
        contacts.push({ ...contact, rule, name: freeName(contact.name, contacts) });
      }
      if (contacts.length > before) await this.#write(contacts);
      return contacts.length - before;
    });
  }

  /** @throws CONTACT_UNKNOWN; USAGE for an invalid name or one that another contact has */
  async rename(name: string, to: string): Promise<Contact> {
    const parsed = parseContactName(to);
    return this.#change((contacts) => {
      const contact = named(contacts, name);
      const taken = contacts.find((other) => other !== contact && isSameName(other.name, parsed));
      if (taken !== undefined) throw usage(`“${taken.name}” is another contact. Choose another name.`);
      refuseLookAlike(
        parsed,
        contacts.filter((other) => other !== contact),
      );
      return { ...contact, name: parsed };
    });
  }

  /** @throws CONTACT_UNKNOWN */
  async remove(name: string): Promise<Contact> {
    return this.#locked(async () => {
      const contacts = await this.#read();
      const removed = named(contacts, name);
      await this.#write(contacts.filter((contact) => contact !== removed));
      return removed;
    });
  }

  /** @throws CONTACT_UNKNOWN */
  change(name: string, change: ContactChange): Promise<Contact> {
    return this.#change((contacts) => ({ ...named(contacts, name), ...change }));
  }

  /** Records a meeting with a contact. Returns undefined if the contact was removed meanwhile; it stays removed. */
  async noteMet(fingerprint: Uint8Array, { keys, paired, self, at }: Encounter): Promise<Contact | undefined> {
    return this.#change((contacts) => {
      const contact = contacts.find((one) => isSameFingerprint(one.fingerprint, fingerprint));
      if (contact === undefined) return undefined;
      const { knowsFormer, ...others } = contact;
      // It has met our current identity, so it knows that one.
      const stale = knowsFormer !== undefined && isSameFingerprint(knowsFormer, self);
      const met = { ...others, ...(stale && { knowsFormer }) };
      return { ...met, keys, paired: contact.paired || paired, lastSeen: at };
    });
  }

  /** Yields the contacts now and after each change, by any process. @throws `signal.reason` on abort */
  async *watch({ signal }: { signal: AbortSignal }): AsyncGenerator<Contact[]> {
    signal.throwIfAborted();
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    let changed = true;
    let wake = () => {};
    const watcher = watch(this.#directory, (_, name) => {
      if (name !== null && name !== FILE) return;
      changed = true;
      wake();
    });
    const onAbort = () => wake();
    signal.addEventListener('abort', onAbort);
    try {
      for (;;) {
        signal.throwIfAborted();
        if (changed) {
          changed = false;
          yield await this.list();
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      watcher.close();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Replaces the contact with the same fingerprint by the result of `change`, or appends it. Writes nothing for
   * undefined.
   */
  #change<T extends Contact | undefined>(change: (contacts: readonly Contact[]) => T): Promise<T> {
    return this.#locked(async () => {
      const contacts = await this.#read();
      const changed = change(contacts);
      if (changed === undefined || contacts.includes(changed)) return changed;
      const place = contacts.findIndex((one) => isSameFingerprint(one.fingerprint, changed.fingerprint));
      await this.#write(place < 0 ? [...contacts, changed] : contacts.with(place, changed));
      return changed;
    });
  }

  async #locked<T>(act: () => Promise<T>): Promise<T> {
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      return await withLock(join(this.#directory, `${FILE}.lock`), act);
    } catch (cause) {
      throw fileError('CONTACTS_CORRUPT', this.#file, 'changed', cause);
    }
  }

  async #read(): Promise<Contact[]> {
    const file = await readPrivate(this.#file, USE);
    if (file === undefined) return [];
    try {
      return decodeContacts(file);
    } catch (reason) {
      throw corrupt(this.#file, reason);
    }
  }

  async #write(contacts: readonly Contact[]): Promise<void> {
    await writePrivate(this.#file, encodeContacts(contacts), { replace: true }, USE.unusable);
  }
}

/** The rules that refuse new keys of a contact. */
function refusalOf(contacts: readonly Contact[], { from, keys, own, at }: RenewedKeys): RotationRefusal | undefined {
  const contact = contacts.find((one) => isSameFingerprint(one.fingerprint, from));
  const fingerprint = digestOf(keys);
  const taken = [...own, ...contacts.map((one) => one.fingerprint)];
  if (contact === undefined || contact.blocked) return 'final';
  if (taken.some((one) => isSameFingerprint(one, fingerprint))) return 'final';
  return renewsTooOften(contact, at) ? 'later' : undefined;
}

function named(contacts: readonly Contact[], name: string): Contact {
  const contact = contacts.find((one) => isSameName(one.name, name));
  if (contact === undefined) throw new KeibiError('CONTACT_UNKNOWN');
  return contact;
}

/** `Ann`, `Ann 2`, … */
function freeName(name: string, contacts: readonly Contact[]): string {
  let free = name;
  for (let i = 2; contacts.some((other) => isSameName(other.name, free)); i++)
    free = `${[...name].slice(0, 58).join('')} ${i}`;
  return free;
}

/** @throws USAGE */
function refuseLookAlike(name: string, contacts: readonly Contact[]): void {
  const alike = contacts.find((contact) => looksLike(contact.name, name));
  if (alike !== undefined) throw usage(`That name looks like “${alike.name}”, another contact. Choose another name.`);
}

function corrupt(file: string, reason: unknown): KeibiError {
  if (reason instanceof KeibiError && reason.code === 'FILE_NEWER') return fileNewer(file);
  const what = reason instanceof KeibiError ? reason.message : 'It is damaged.';
  const message = `The stored contacts cannot be read. ${what} Put ${file} back from a copy, or move it away to start without contacts.`;
  return new KeibiError('CONTACTS_CORRUPT', message, { cause: reason });
}

function usage(message: string): KeibiError {
  return new KeibiError('USAGE', message);
}
