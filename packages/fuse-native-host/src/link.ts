// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import {
  cutMessages,
  decodeFromDaemon,
  encodeFromHost,
  type FromDaemon,
  type FromHost,
  rules,
} from '@keibidrop/proto/mount-host';
import { decodePage, type ShareEntry } from '@keibidrop/protocol';
import { Failure } from './failure.ts';

type WithoutRequest<Message> = Message extends { request: number } ? Omit<Message, 'request'> : never;
/** A message that is answered. */
export type Request = WithoutRequest<FromHost>;
type Report = Exclude<FromHost, { request: number }>;

interface Question {
  onPage: (page: Uint8Array) => void;
  answered: (body: Uint8Array) => void;
  failed: (reason: Failure) => void;
  timer: NodeJS.Timeout;
  /** Whatever comes. */
  latest: number;
}

export interface AskOptions {
  onPage?: (page: Uint8Array) => void;
  /** Multiplies the timeout. */
  patiences?: number;
}

/** The host's end of the socket pair. */
export class Link {
  readonly patienceMs: number;
  /** Resolves when the daemon has closed its end, or violated the protocol: every request has failed by then. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #asked = new Map<number, Question>();
  #next = 1;
  #over = false;

  constructor(socket: Socket, patienceMs: number, onMessage: (message: FromDaemon) => void) {
    this.#socket = socket;
    this.patienceMs = patienceMs;
    const cut = cutMessages(decodeFromDaemon);
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      try {
        for (const message of cut(bytes)) this.#handle(message, onMessage);
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

  /** @returns the body of the answer @throws Failure */
  ask(message: Request, { onPage = () => {}, patiences = 1 }: AskOptions = {}): Promise<Uint8Array> {
    return new Promise((answered, failed) => {
      if (this.#over) return failed(new Failure('ENOTCONN'));
      if (this.#socket.writableLength > rules.MOST_QUEUED_BYTES) return failed(new Failure('ETIMEDOUT'));
      const request = this.#next;
      this.#next = (this.#next % 0xffff_ffff) + 1;
      const patience = patiences * this.patienceMs;
      const latest = Date.now() + Math.max(patience, rules.PAGE_PATIENCES * this.patienceMs);
      this.#asked.set(request, { onPage, answered, failed, timer: this.#late(request, patience), latest });
      this.#socket.write(encodeFromHost({ ...message, request } as FromHost));
    });
  }

  /** A request that one entry answers. @throws Failure */
  async askEntry(message: Request, options: Omit<AskOptions, 'onPage'> = {}): Promise<ShareEntry> {
    const entries: ShareEntry[] = [];
    await this.ask(message, { ...options, onPage: (page) => entries.push(...entriesOf(page)) });
    const [entry] = entries;
    if (entry === undefined || entries.length > 1) throw new Failure('EIO');
    return entry;
  }

  report(message: Report): void {
    if (!this.#over) this.#socket.write(encodeFromHost(message));
  }

  /** Resolves when all queued messages were sent. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#socket.end(() => resolve()));
  }

  #handle(message: FromDaemon, onMessage: (message: FromDaemon) => void): void {
    if (message.type !== 'done' && message.type !== 'page') {
      onMessage(message);
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
export function entriesOf(page: Uint8Array): ShareEntry[] {
  try {
    return decodePage(page, 0).filter(({ type }) => type !== 'stream') as ShareEntry[];
  } catch {
    throw new Failure('EIO');
  }
}
