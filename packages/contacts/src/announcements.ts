// SPDX-License-Identifier: MPL-2.0
import { formatFingerprint, isSameFingerprint } from '@keibidrop/protocol';
import type { IdentityKeys } from '@keibidrop/session';
import type { Contact } from './contact.ts';
import type { ContactLink, ContactLinkOptions } from './contact-link.ts';
import type { FormerIdentity } from './identity/former-identity.ts';
import type { AnnouncementOutcome } from './identity-change.ts';

export interface AnnouncementsOptions {
  /** Opens a link under a former identity that announces the current one. */
  open(
    contact: Contact,
    former: FormerIdentity,
    announce: NonNullable<ContactLinkOptions['announce']>,
  ): Promise<ContactLink>;
  /** The contact knows the current identity, or has refused it for good. */
  onHeard(contact: Contact, former: FormerIdentity): void;
  /** Call `take` again. */
  onChange(): void;
}

interface Announcement {
  readonly contact: Contact;
  readonly link: ContactLink;
}

/** Pause before the identity is announced to a contact again. It doubles each time, to spare older programs. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 6 * 3_600_000;
/** Pause after a contact that has accepted the day's limit of identity changes. */
const LATER_PAUSE_MS = 3_600_000;

/** Announces our identity to the contacts that know only a former one (PROTOCOL 10.6). */
export class Announcements {
  readonly #options: AnnouncementsOptions;
  /** The keys of these maps combine both fingerprints. */
  readonly #open = new Map<string, Announcement>();
  readonly #heard = new Set<string>();
  readonly #paused = new Map<string, NodeJS.Timeout>();
  readonly #failures = new Map<string, number>();
  #next: IdentityKeys | undefined;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  get links(): ContactLink[] {
    return [...this.#open.values()].map(({ link }) => link);
  }

  /** Announces `next` to the contacts that need it, and only to them. One call at a time. */
  async take(contacts: readonly Contact[], former: readonly FormerIdentity[], next: IdentityKeys): Promise<void> {
    if (next !== this.#next) this.#forget();
    this.#next = next;
    const others = former.filter(({ keys }) => !isSameFingerprint(keys.fingerprint, next.fingerprint));
    const wanted = new Map(contacts.flatMap((contact) => wantedOf(contact, others)));
    for (const [key, { link }] of this.#open) {
      if (wanted.has(key)) continue;
      link.close();
      this.#open.delete(key);
    }
    for (const [key, { contact, identity }] of wanted) {
      if (this.#heard.has(key) || this.#paused.has(key)) continue;
      const open = this.#open.get(key);
      if (open !== undefined) await open.link.update(contact);
      else {
        const onOutcome = (outcome: AnnouncementOutcome) => this.#ended(key, identity, outcome);
        const link = await this.#options.open(contact, identity, { next, onOutcome });
        this.#open.set(key, { contact, link });
      }
    }
  }

  close(): void {
    this.#forget();
  }

  #forget(): void {
    for (const { link } of this.#open.values()) link.close();
    for (const timer of this.#paused.values()) clearTimeout(timer);
    for (const known of [this.#open, this.#paused, this.#heard, this.#failures]) known.clear();
  }

  #ended(key: string, identity: FormerIdentity, outcome: AnnouncementOutcome): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#open.delete(key);
    open.link.close();
    if (outcome === 'taken' || outcome === 'final') {
      this.#heard.add(key);
      this.#options.onHeard(open.contact, identity);
    } else this.#pause(key, outcome === 'later' ? LATER_PAUSE_MS : this.#pauseAfterFailure(key));
    this.#options.onChange();
  }

  #pause(key: string, pauseMs: number): void {
    const timer = setTimeout(() => {
      this.#paused.delete(key);
      this.#options.onChange();
    }, pauseMs);
    this.#paused.set(key, timer.unref());
  }

  #pauseAfterFailure(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  }
}

function wantedOf(
  contact: Contact,
  former: readonly FormerIdentity[],
): [string, { contact: Contact; identity: FormerIdentity }][] {
  const { knowsFormer, blocked, fingerprint } = contact;
  if (knowsFormer === undefined || blocked) return [];
  const identity = former.find(({ keys }) => isSameFingerprint(keys.fingerprint, knowsFormer));
  if (identity === undefined || identity.until.getTime() <= Date.now()) return [];
  return [[`${formatFingerprint(knowsFormer)} ${formatFingerprint(fingerprint)}`, { contact, identity }]];
}
