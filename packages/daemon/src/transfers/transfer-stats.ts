// SPDX-License-Identifier: MPL-2.0
import { basename } from 'node:path';
import type { ConnectedEvent, PeerEvent, ProgressEvent } from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';

const SHOWN_NAMES = 3;
const TEXT = 'text';

/** The totals of one run, built from its events over all of its peers. */
export class TransferStats {
  /** The names of the offered files; '' while they are unknown. */
  what: string;
  code: string | undefined;
  /** The received text. */
  text: string | undefined;
  /** The peer that connected last. */
  last: ConnectedEvent | undefined;
  /** The connected peers. */
  readonly sessions = new Set<number>();
  /** Those of them that pause the transfer. */
  readonly holding = new Set<number>();
  readonly #accepted = new Set<number>();
  readonly #progress = new Map<number, ProgressEvent>();
  #offered = { files: 0, bytes: 0 };

  constructor(what: string) {
    this.what = what;
  }

  take(event: PeerEvent): void {
    switch (event.type) {
      case 'code':
        this.code = event.code;
        break;
      case 'connected':
        this.last = event;
        this.sessions.add(event.session);
        break;
      case 'accepted':
        this.#accepted.add(event.session);
        break;
      case 'reconnecting':
        this.#leave(1);
        break;
      case 'receiverLost':
      case 'receiverDone':
        this.#leave(event.session);
        break;
      case 'offer':
        this.#offered = { files: event.files, bytes: event.bytes };
        if (event.names !== undefined) this.what = namesOf(event.names, event.nameCount);
        break;
      case 'text':
        this.text = event.text;
        this.what = TEXT;
        break;
      case 'paused':
        if (event.by === 'peer') this.#hold(event.session ?? 1, event.paused);
        break;
      case 'progress':
        this.#progress.set(event.session, event);
        break;
      default:
    }
  }

  /** Some peer has accepted the offer and does not pause the transfer. */
  get wanted(): boolean {
    return [...this.sessions].some((session) => this.#accepted.has(session) && !this.holding.has(session));
  }

  /** The numbers of local.Transfer. */
  sums(): Pick<
    local.Transfer,
    'files' | 'bytes' | 'totalFiles' | 'totalBytes' | 'totalsFinal' | 'bytesPerSecond' | 'sessions'
  > {
    const sum = { files: 0, bytes: 0, totalFiles: 0, totalBytes: 0, totalsFinal: true, bytesPerSecond: 0 };
    for (const [session, progress] of this.#progress) {
      sum.files += progress.files;
      sum.bytes += progress.bytes;
      sum.totalFiles += progress.totalFiles;
      sum.totalBytes += progress.totalBytes;
      sum.totalsFinal &&= progress.totalsFinal;
      if (this.sessions.has(session) && !this.holding.has(session)) sum.bytesPerSecond += progress.bytesPerSecond;
    }
    if (this.#progress.size === 0) {
      sum.totalFiles = this.#offered.files;
      sum.totalBytes = this.#offered.bytes;
      sum.totalsFinal = this.#offered.bytes > 0;
    }
    return { ...sum, bytesPerSecond: Math.round(sum.bytesPerSecond), sessions: this.sessions.size };
  }

  #leave(session: number): void {
    this.sessions.delete(session);
    this.holding.delete(session);
  }

  #hold(session: number, held: boolean): void {
    if (held) this.holding.add(session);
    else this.holding.delete(session);
  }
}

/** The content of a send, as shown to the user. */
export function offeredBy({ paths, text }: Pick<local.SendRequest, 'paths' | 'text'>): string {
  return text === undefined ? namesOf(paths.map((path) => basename(path))) : TEXT;
}

/** `a, b, c and 4 more`. */
export function namesOf(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, SHOWN_NAMES);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
