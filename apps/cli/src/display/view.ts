// SPDX-License-Identifier: MPL-2.0
import type { ConnectedEvent, PeerEvent, ProgressEvent } from '@keibidrop/peer';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, harmlessLines } from '../terminal/terminal-text.ts';
import type { Notes } from './code-extras.ts';
import { formatCount } from './format.ts';
import { amountOf } from './outcome.ts';
import { PeopleLines } from './people-lines.ts';
import { type ProgressRow, sumOf } from './progress-line.ts';

/** Shows the events of one send or receive while it runs. */
export interface View {
  onEvent(event: PeerEvent): void;
  /** Asks the user a question, with the repainted lines hidden. */
  during<T>(question: () => Promise<T>): Promise<T>;
  /** Notes and warnings for people; nothing with --json. */
  readonly notes: Notes;
  /** Clears the repainted lines. Idempotent. */
  end(): void;
}

export interface ViewOptions {
  role: 'send' | 'receive' | 'bench';
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  /** Sender only: number of receivers to serve, 0 for no limit. */
  receivers?: number;
  /** Peers cannot dial this sender. */
  relayOnly?: boolean;
  /** The text, if a text is sent. */
  text?: string;
}

export function createView(io: Io, peer: Pick<PeerPackage, 'eventJson'>, options: ViewOptions): View {
  return options.json ? createJsonView(io, peer, options) : new PeopleView(io, options);
}

function createJsonView(io: Io, peer: Pick<PeerPackage, 'eventJson'>, options: ViewOptions): View {
  const lines = { verbose: options.verbose === true, receivers: mayServeSeveral(options) };
  return {
    onEvent: (event) => {
      const json = peer.eventJson(event, lines);
      if (json !== undefined) io.stdout.write(`${JSON.stringify(json)}\n`);
    },
    during: (question) => question(),
    notes: { note: () => {}, warn: () => {} },
    end: () => {},
  };
}

/** After this silence a receiver's last rate is outdated. */
const SILENCE_MS = 3000;
const RECONNECTING = 'reconnecting';
const AWAY = 'away';
const PAUSED = 'paused';

/** An open session and its progress. */
interface Up {
  connected: ConnectedEvent;
  /** The connection is lost and being restored. */
  lost: boolean;
  /** The peer has paused it. */
  paused?: boolean;
  progress?: ProgressEvent;
  heardAt?: number;
}

class PeopleView implements View {
  #io: Io;
  #options: ViewOptions;
  #lines: PeopleLines;
  #sessions = new Map<number, Up>();
  /** Sessions of lost receivers. */
  #away = new Set<number>();
  /** This side has paused all sessions. */
  #paused = false;
  #saidLeftOut = false;

  constructor(io: Io, options: ViewOptions) {
    this.#io = io;
    this.#options = options;
    this.#lines = new PeopleLines(io, options);
  }

  get notes(): Notes {
    return this.#lines;
  }

  during<T>(question: () => Promise<T>): Promise<T> {
    return this.#lines.during(question);
  }

  end(): void {
    this.#lines.clear();
  }

  onEvent(event: PeerEvent): void {
    switch (event.type) {
      case 'code':
        this.#lines.code(event.code, this.#options.role === 'bench' ? 'bench' : 'receive');
        break;
      case 'text':
        this.#showText(event.text);
        break;
      case 'warning':
        this.#lines.warning(event);
        break;
      case 'saved':
        this.#lines.note(`Saved as ${harmless(event.contact)}; send --to ${harmless(event.contact)} needs no code.`);
        break;
      case 'wrongCode':
        this.#lines.warn(`A wrong code was tried; after ${event.remaining} more the offer ends.`);
        break;
      case 'receiverLost':
        this.#showLost(event);
        break;
      case 'receiverDone':
        this.#sessions.delete(event.session);
        this.#showReceiverDone(event);
        break;
      case 'connected':
        this.#connect(event);
        break;
      case 'paused':
        this.#showPaused(event);
        break;
      case 'reconnecting':
        this.#showReconnecting(event);
        break;
      case 'inviting':
        this.#showInviting(event);
        break;
      case 'looking':
        this.#lines.dim('Looking for the sender on this network; Ctrl-C stops.');
        break;
      case 'waiting':
        this.#lines.dim(`Waiting ${this.#lines.whereReached(event.host, event.port)}; Ctrl-C ends the offer.`);
        break;
      case 'rendezvous':
        this.#lines.rendezvous(event);
        break;
      case 'mapping':
        this.#lines.mapping(event);
        break;
      case 'progress':
        this.#showProgress(event);
        break;
      case 'file':
        if (this.#options.verbose) this.#lines.note(harmless(event.path));
        break;
      case 'offer':
        this.#showLeftOut(event.leftOut ?? 0);
        break;
      case 'done':
        this.#lines.settle();
        break;
      default:
      // Other events need no line: a receiver has been asked about the offer, failures are listed at the end, and the command prints the result.
    }
  }

  /** Once: every receiver's walk leaves out the same. */
  #showLeftOut(names: number): void {
    if (names === 0 || this.#saidLeftOut) return;
    this.#saidLeftOut = true;
    this.#lines.dim(`Left out: ${formatCount(names, 'name')}.`);
  }

  #showInviting({ contact, state }: Extract<PeerEvent, { type: 'inviting' }>): void {
    const sentence = {
      absent: `Waiting for ${contact} to come online; Ctrl-C stops.`,
      invited: undefined,
      asked: `${contact} is online and is being asked; Ctrl-C withdraws it.`,
      taken: `${contact} has accepted.`,
    }[state];
    if (sentence !== undefined) this.#lines.dim(sentence);
  }

  #connect(event: ConnectedEvent): void {
    this.#showConnected(event);
    this.#sessions.set(event.session, { ...this.#sessions.get(event.session), connected: event, lost: false });
    this.#away.delete(event.session);
  }

  #showConnected({ session, peer, path, suite, tried = [], contact, verified }: ConnectedEvent): void {
    const held = this.#sessions.get(session);
    if (this.#options.role !== 'send' && held?.lost === false) {
      // The session is the same: only its lanes use another path.
      if (this.#options.verbose) this.#lines.note(`Moved from ${held.connected.path} to ${path}.`);
      return;
    }
    const again = this.#away.has(session) || held !== undefined;
    const by = contact !== undefined && !verified ? ', not verified' : '';
    const who =
      mayServeSeveral(this.#options) && contact === undefined
        ? `Receiver ${session} is${again ? ' back:' : ''}`
        : `Connected ${again ? 'again ' : ''}to`;
    this.#lines.note(`${who} ${harmless(peer)} (${path}, ${suite}${by}).`);
    if (!this.#options.verbose) return;
    for (const { transport, address, reason } of tried) {
      this.#lines.note(`  not through ${harmless(address)} (${harmless(transport)}): ${harmless(reason)}`);
    }
  }

  #showPaused({ paused, by, session }: Extract<PeerEvent, { type: 'paused' }>): void {
    const held = session === undefined ? undefined : this.#sessions.get(session);
    if (by === 'self') this.#paused = paused;
    else if (held !== undefined) held.paused = paused;
    const who =
      by === 'self'
        ? 'Paused; press p to resume.'
        : `${held === undefined ? 'The peer' : this.#nameOf(held.connected)} has paused.`;
    const resumed = by === 'self' ? 'Resumed.' : 'The peer has resumed.';
    this.#lines.dim(paused ? who : resumed);
    this.#repaint();
  }

  /** A receiver that may return keeps its line. */
  #showLost(event: Extract<PeerEvent, { type: 'receiverLost' }>): void {
    const held = this.#sessions.get(event.session);
    if (event.mayReturn && held !== undefined) held.lost = true;
    else this.#sessions.delete(event.session);
    this.#away.add(event.session);
    this.#lines.warn(event.contact === undefined ? `${this.#nameOf(event)} ${leftBecause(event)}` : lostContact(event));
    this.#repaint();
  }

  /** Warns at the first attempt after each loss; later attempts only show in the progress. */
  #showReconnecting({ reason, attempt }: Extract<PeerEvent, { type: 'reconnecting' }>): void {
    for (const session of this.#sessions.values()) session.lost = true;
    if (attempt === 1) this.#lines.warn(`${reason} Reconnecting; Ctrl-C stops.`);
    this.#repaint();
  }

  #showText(text: string): void {
    const { stdout } = this.#io;
    // A program gets the exact text; on a terminal it is escaped.
    stdout.write(stdout.isTerminal ? `${harmlessLines(text)}\n` : text);
  }

  #showReceiverDone(event: Extract<PeerEvent, { type: 'receiverDone' }>): void {
    if (!mayServeSeveral(this.#options)) return;
    const what = this.#options.text === undefined ? amountOf(event) : 'the text';
    const failed = event.failed > 0 ? ` ${event.failed} failed.` : '';
    this.#lines.note(`${harmless(this.#nameOf(event))} has ${what}.${failed}`);
  }

  #showProgress(event: ProgressEvent): void {
    const session = this.#sessions.get(event.session);
    if (session === undefined || this.#options.quiet) return;
    session.progress = event;
    session.heardAt = this.#io.now();
    this.#repaint();
  }

  #repaint(): void {
    this.#lines.progress({
      rows: () =>
        [...this.#sessions.values()]
          .sort((a, b) => a.connected.session - b.connected.session)
          .map((session) => this.#rowOf(session)),
      plainRows: () => [this.#sum()],
      noun: 'receiver',
    });
  }

  #rowOf({ connected, lost, paused, progress, heardAt = 0 }: Up): ProgressRow {
    const held = lost
      ? this.#options.role === 'send'
        ? AWAY
        : RECONNECTING
      : this.#paused || paused
        ? PAUSED
        : undefined;
    const silent = held !== undefined || this.#io.now() - heardAt > SILENCE_MS;
    return {
      ...(mayServeSeveral(this.#options) && { name: harmless(this.#nameOf(connected)) }),
      ...(progress && { progress: silent ? { ...progress, bytesPerSecond: 0 } : progress }),
      ...(progress?.file !== undefined && { file: harmless(progress.file) }),
      ...(held !== undefined && { held }),
      via: connected.path,
    };
  }

  #sum(): ProgressRow {
    const [only] = this.#sessions.values();
    if (only && this.#sessions.size === 1) return { ...this.#rowOf(only), name: '' };
    const begun = [...this.#sessions.values()].filter(({ progress }) => progress !== undefined);
    return { progress: sumOf(begun), via: `${this.#sessions.size} receivers` };
  }

  /** Receivers may have the same name, so a number comes first where there may be several. */
  #nameOf({ session, peer, contact }: { session: number; peer: string; contact?: string }): string {
    if (contact !== undefined) return contact;
    return mayServeSeveral(this.#options) ? `${session} ${peer}` : peer;
  }
}

/** Why a receiver is incomplete, for the sender, which keeps waiting while the code is valid. */
function leftBecause({ code, message, mayReturn }: Extract<PeerEvent, { type: 'receiverLost' }>): string {
  if (mayReturn) return 'is away: the connection was lost. It resumes once it is back.';
  if (code === 'OFFER_DECLINED') return 'declined the offer.';
  const left = code === 'SESSION_LOST' || code === 'SESSION_CLOSED' || code === 'CANCELLED';
  return left ? 'left before it had everything.' : `failed: ${message}`;
}

/** The messages of refusals and failures already contain the contact's name. */
function lostContact(event: Extract<PeerEvent, { type: 'receiverLost' }>): string {
  return event.mayReturn ? `${event.peer} ${leftBecause(event)}` : event.message;
}

function mayServeSeveral({ role, receivers = 1 }: ViewOptions): boolean {
  return role === 'send' && receivers !== 1;
}
