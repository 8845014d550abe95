// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { decodePage } from '@keibidrop/protocol';
import type { SourceEntry } from '../mount-source.ts';
import { Failure } from './failure.ts';
import { Body, encodeSaid, type FromPeer, PeerMessages, type Says } from './peer-message.ts';

interface Question {
  onPage: (page: Buffer) => void;
  answered: (body: Buffer) => void;
  failed: (reason: Failure) => void;
  timer: NodeJS.Timeout;
  /** Whatever comes. */
  latest: number;
}

export interface AskOptions {
  onPage?: (page: Buffer) => void;
  /** Multiplies the timeout. */
  patiences?: number;
}

/** A directory may take longer: parts of it come all the while. */
const PAGES_PATIENCE = 10;
/** The limit for a Peer that reads nothing; its requests time out. */
const MOST_UNSENT = 2 ** 26;

/** The host's end of the socket pair. */
export class Link {
  readonly patienceMs: number;
  /** Resolves when the Peer has closed its end, or broken the rules: every question has failed by then. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #asked = new Map<number, Question>();
  #next = 1;
  #over = false;

  constructor(socket: Socket, patienceMs: number, heard: (message: FromPeer) => void) {
    this.#socket = socket;
    this.patienceMs = patienceMs;
    const messages = new PeerMessages();
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      try {
        for (const message of messages.take(bytes)) this.#handle(message, heard);
      } catch {
        socket.destroy();
      }
    });
    this.ended = new Promise((resolve) => {
      socket.once('close', () => {
        this.#over = true;
        for (const request of [...this.#asked.keys()]) this.#fail(request, new Failure('ENOTCONN'));
        resolve();
      });
    });
    socket.once('end', () => socket.destroy());
  }

  /** @returns what the end of the answer says   @throws Failure */
  ask(type: Says, body: Body, { onPage = () => {}, patiences = 1 }: AskOptions = {}): Promise<Buffer> {
    return new Promise((answered, failed) => {
      if (this.#over) return failed(new Failure('ENOTCONN'));
      if (this.#socket.writableLength > MOST_UNSENT) return failed(new Failure('ETIMEDOUT'));
      const request = this.#next;
      this.#next = (this.#next % 0xffff_ffff) + 1;
      const patience = patiences * this.patienceMs;
      const latest = Date.now() + Math.max(patience, PAGES_PATIENCE * this.patienceMs);
      this.#asked.set(request, { onPage, answered, failed, timer: this.#late(request, patience), latest });
      this.#socket.write(encodeSaid(type, request, body.take()));
    });
  }

  /** A question whose answer is one entry. @throws Failure */
  async askEntry(type: Says, body: Body, options: Omit<AskOptions, 'onPage'> = {}): Promise<SourceEntry> {
    const entries: SourceEntry[] = [];
    await this.ask(type, body, { ...options, onPage: (page) => entries.push(...entriesOf(page)) });
    const [entry] = entries;
    if (entry === undefined || entries.length > 1) throw new Failure('EIO');
    return entry;
  }

  tell(type: Says, body = new Body()): void {
    if (!this.#over) this.#socket.write(encodeSaid(type, 0, body.take()));
  }

  /** Resolves when all queued messages were sent. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#socket.end(() => resolve()));
  }

  #handle(message: FromPeer, heard: (message: FromPeer) => void): void {
    if (message.type !== 'done' && message.type !== 'page') {
      heard(message);
      return;
    }
    const question = this.#asked.get(message.request);
    if (question === undefined) return; // the answer came too late
    if (message.type === 'page') {
      // A page restarts the timeout, up to `latest`.
      clearTimeout(question.timer);
      question.timer = this.#late(message.request, Math.min(this.patienceMs, question.latest - Date.now()));
      question.onPage(message.body);
    } else if (message.systemError === 0) {
      clearTimeout(question.timer);
      this.#asked.delete(message.request);
      question.answered(message.body);
    } else {
      this.#fail(message.request, new Failure(message.systemError));
    }
  }

  #late(request: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#fail(request, new Failure('ETIMEDOUT')), ms);
  }

  #fail(request: number, reason: Failure): void {
    const question = this.#asked.get(request);
    if (question === undefined) return;
    clearTimeout(question.timer);
    this.#asked.delete(request);
    question.failed(reason);
  }
}

/** @throws Failure: EIO for a page that is none */
export function entriesOf(page: Uint8Array): SourceEntry[] {
  try {
    return decodePage(page, 0).filter(({ type }) => type !== 'stream') as SourceEntry[];
  } catch {
    throw new Failure('EIO');
  }
}
