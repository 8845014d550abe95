// SPDX-License-Identifier: MPL-2.0
import { randomBytes, randomInt } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { measureAll, type PeerEvent, planSend, type SendOptions, type SendResult, send } from '@keibidrop/peer';
import { createCode, INVITATION_ID_BYTES, type Invitation, KeibiError, MAX_LABEL_BYTES } from '@keibidrop/protocol';
import type { EntryLog } from '@keibidrop/transfer';

import type { Contact } from './contact.ts';
import type { ContactLinks } from './contact-links.ts';
import { refusedBy } from './sent-invitations.ts';

export interface SendByInvitationOptions
  extends Omit<SendOptions, 'code' | 'wordCount' | 'insecureCode' | 'receivers'> {
  /** Without duplicates. */
  contacts: readonly Contact[];
  links: Pick<ContactLinks, 'untilOnline' | 'deliver'>;
  /** Time limit for an absent contact and for its answer; absent: until `signal`. */
  patienceMs?: number | undefined;
}

/** The code is never read aloud: 176 bits and a number that no other sender has. */
const WORDS = 16;
const NAMEPLATES = 10 ** 9;
/** An online contact is met within a tenth of a second. */
const ABSENCE_NOTICE_MS = 700;
/** Time limit for a contact to come after it has accepted. */
const COMING_MS = 60_000;

/**
 * Sends the same data to each of these contacts, at once and without a code. Each contact is invited when it is online,
 * and has a sender of its own.
 *
 * Events of one contact carry its name and `session`, its number among `contacts` from 1.
 *
 * @returns  the sums over all contacts, if every contact has received
 * @throws as `send`; CONTACT_BLOCKED or OFFER_DECLINED as a contact answers; PEER_UNREACHABLE if one is absent for too
 * long. With several contacts each failure is reported as `receiverLost`, and the first error is thrown when all have
 * ended.
 */
export async function sendByInvitation(options: SendByInvitationOptions): Promise<SendResult> {
  const { contacts, signal, onEvent } = options;
  signal.throwIfAborted();
  const events = new SharedEvents(onEvent);
  const ends = await Promise.all(
    contacts.map(async (contact, i) => {
      const session = i + 1;
      try {
        // Only one sender can use the named port.
        const listen = i === 0 ? options.listen : { ...options.listen, orAnyPort: true };
        const entriesOf = options.entriesOf && (() => options.entriesOf?.(session) as EntryLog);
        return await sendToOne(contact, { ...options, listen, entriesOf }, (event) =>
          events.of(contact, session, event),
        );
      } catch (reason) {
        signal.throwIfAborted();
        const error = byName(contact, KeibiError.from(reason, 'INTERNAL'));
        const { code, message } = error;
        const { name } = contact;
        if (contacts.length > 1) {
          onEvent({ type: 'receiverLost', mayReturn: false, session, peer: name, contact: name, code, message });
        }
        return error;
      }
    }),
  );
  const results = ends.filter((end): end is SendResult => !(end instanceof KeibiError));
  const errors = ends.filter((end): end is KeibiError => end instanceof KeibiError);
  if (errors[0] !== undefined) throw errors.length + results.length === 1 ? errors[0] : notAll(errors, results.length);
  return done(results, onEvent);
}

async function sendToOne(
  contact: Contact,
  options: SendByInvitationOptions,
  onEvent: (event: PeerEvent) => void,
): Promise<SendResult> {
  const { links, patienceMs, contacts: _, ...sending } = options;
  const over = new AbortController();
  const end = (reason: unknown) => over.abort(reason);
  const signal = AbortSignal.any([options.signal, over.signal]);
  const timers = new Timers();
  try {
    if (patienceMs !== undefined) timers.set(() => end(absent(contact)), patienceMs);
    const absence = setTimeout(
      () => onEvent({ type: 'inviting', contact: contact.name, state: 'absent' }),
      ABSENCE_NOTICE_MS,
    );
    await links.untilOnline(contact, { signal }).finally(() => clearTimeout(absence));
    const nameplate = String(randomInt(1, NAMEPLATES));
    const code = createCode({ nameplate, wordCount: WORDS, randomBytes: (length) => randomBytes(length) });
    const invitation = {
      id: randomBytes(INVITATION_ID_BYTES),
      code: code.text,
      to: kindOf(options),
      label: labelOf(options),
      size: await sizeOf(options),
    };
    const invite = async () => {
      await invited(contact, invitation, { links, signal, onEvent });
      timers.clear();
      timers.set(() => end(neverCame(contact)), COMING_MS);
    };
    return await send({
      ...sending,
      code,
      receivers: 1,
      signal,
      onEvent: (event) => {
        if (event.type === 'waiting') invite().catch(end);
        if (event.type === 'connected') timers.clear();
        onEvent(event);
      },
    });
  } finally {
    timers.clear();
    over.abort(new KeibiError('SESSION_CLOSED'));
  }
}

/** Resolves when the contact has accepted. @throws the contact's refusal */
async function invited(
  contact: Contact,
  invitation: Invitation,
  { links, signal, onEvent }: Pick<SendByInvitationOptions, 'links' | 'signal' | 'onEvent'>,
): Promise<void> {
  const { name } = contact;
  let last = '';
  const verdict = await links.deliver(contact, invitation, {
    signal,
    onState: (state) => {
      // A conversation that replaces a lost one reports the state again.
      if (state !== last && last !== 'asked') onEvent({ type: 'inviting', contact: name, state });
      last = state;
    },
  });
  if (verdict !== 'taken') throw refusedBy(name, verdict);
  onEvent({ type: 'inviting', contact: name, state: 'taken' });
}

/** Passes on those events of each contact's sender that concern a viewer of all of them. */
class SharedEvents {
  readonly #onEvent: (event: PeerEvent) => void;
  #paused = false;

  constructor(onEvent: (event: PeerEvent) => void) {
    this.#onEvent = onEvent;
  }

  of(contact: Contact, session: number, event: PeerEvent): void {
    if (event.type === 'paused' && event.by === 'self') {
      if (event.paused === this.#paused) return;
      this.#paused = event.paused;
      this.#onEvent(event);
    } else if (!UNREPORTED.includes(event.type)) {
      this.#onEvent(ofContact(contact, session, event));
    }
  }
}

/** Events that are irrelevant here: the code, where its sender waits, and the end of one of several. */
const UNREPORTED: readonly PeerEvent['type'][] = ['code', 'waiting', 'mapping', 'rendezvous', 'done'];

function ofContact({ name, verified }: Contact, session: number, event: PeerEvent): PeerEvent {
  switch (event.type) {
    case 'connected':
      return { ...event, peer: name, contact: name, verified, session };
    case 'receiverLost':
    case 'receiverDone':
      return { ...event, peer: name, contact: name, session };
    case 'offer':
      return { ...event, contact: name };
    default:
      return 'session' in event ? { ...event, contact: name, session } : event;
  }
}

/** Runs at most one timer at a time, and none after the send. */
class Timers {
  #timer: NodeJS.Timeout | undefined;

  set(act: () => void, ms: number): void {
    this.#timer = setTimeout(act, ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

function kindOf({ text }: SendByInvitationOptions): Invitation['to'] {
  return text === undefined ? 'files' : 'text';
}

/** The size of the data; undefined if it is known only after sending. */
async function sizeOf(options: SendByInvitationOptions): Promise<Invitation['size']> {
  const { text, stdin, paths, selection, signal } = options;
  if (text !== undefined) return { files: 0, bytes: Buffer.byteLength(text) };
  if (stdin) return undefined;
  if (selection === undefined) return measureAll(paths, signal);
  const { files, bytes } = await planSend({ paths, selection, signal });
  return { files, bytes };
}

/** The description that the contact sees before the offer: as many names as fit. */
function labelOf({ text, stdin, paths }: SendByInvitationOptions): string {
  if (text !== undefined) return `a text of ${Buffer.byteLength(text)} bytes`;
  if (stdin) return 'what a program writes';
  const names = paths.map((path) => basename(resolve(path)) || 'root');
  let label = '';
  for (const [i, name] of names.entries()) {
    const rest = names.length - i - 1;
    const longer = label === '' ? name : `${label}, ${name}`;
    if (Buffer.byteLength(longer) + (rest > 0 ? ' and 1000 more'.length : 0) > MAX_LABEL_BYTES) {
      return label === ''
        ? names.length === 1
          ? 'one file or folder'
          : `${names.length} files and folders`
        : `${label} and ${rest + 1} more`;
    }
    label = longer;
  }
  return label;
}

/** Names the contact in the error of a declined offer. */
function byName({ name }: Contact, error: KeibiError): KeibiError {
  if (error.code !== 'OFFER_DECLINED' || error.detail?.verdict !== undefined) return error;
  return new KeibiError(
    'OFFER_DECLINED',
    `${name} declined the offer, so nothing was sent. Ask ${name} why, then send again.`,
    { cause: error },
  );
}

function absent({ name }: Contact): KeibiError {
  const text = `${name} did not come online, or did not answer, in time. Ask ${name} to run keibidrop daemon, or wait longer with --patience.`;
  return new KeibiError('PEER_UNREACHABLE', text);
}

function neverCame({ name }: Contact): KeibiError {
  const text = `${name} has accepted, but did not reach this computer. Give both the same --rendezvous, one that relays, or open a port here: keibidrop help firewalls.`;
  return new KeibiError('PEER_UNREACHABLE', text);
}

function notAll(errors: readonly KeibiError[], received: number): KeibiError {
  const [first] = errors as [KeibiError];
  const others = errors.length > 1 ? `, and ${errors.length - 1} more failed` : '';
  const rest =
    received === 0 ? '' : ` ${received === 1 ? 'One other has' : `${received} others have`} received everything.`;
  return new KeibiError(first.code, `${first.message.replace(/\.$/, '')}${others}.${rest}`, { cause: first });
}

function done(results: readonly SendResult[], onEvent: (event: PeerEvent) => void): SendResult {
  const sum = (of: (result: SendResult) => number) => results.reduce((total, one) => total + of(one), 0);
  const counts = {
    files: sum(({ files }) => files),
    bytes: sum(({ bytes }) => bytes),
    skipped: sum(({ skipped }) => skipped),
    resumedBytes: sum(({ resumedBytes }) => resumedBytes),
    seconds: Math.max(0, ...results.map(({ seconds }) => seconds)),
  };
  const failed = results.flatMap((result) => result.failed);
  onEvent({ type: 'done', ...counts, failed: failed.length });
  return { ...counts, failed, receivers: results.length };
}
