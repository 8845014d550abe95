// SPDX-License-Identifier: MPL-2.0
import type { ConnectedEvent, PeerEvent, ProgressEvent } from '@keibidrop/peer';
import { formatBytes, formatCount } from './format.ts';
import { type Io, paint } from './io.ts';
import { jsonLine } from './json-lines.ts';
import { dialableAddress } from './local-address.ts';
import { type Progress, ProgressLine } from './progress-line.ts';
import { harmless, harmlessLines } from './terminal-text.ts';

/** Shows the events of one send or receive while it runs. */
export interface View {
  onEvent(event: PeerEvent): void;
  /** Puts a question to the person, with nothing painted over it. */
  during<T>(question: () => Promise<T>): Promise<T>;
  /** Takes away what is repainted; may be called again. */
  end(): void;
}

export interface ViewOptions {
  role: 'send' | 'receive';
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  /** Of a sender: how many receivers it serves, 0 for no end. */
  receivers?: number;
}

export function createView(io: Io, options: ViewOptions): View {
  return options.json ? createJsonView(io, options) : new PeopleView(io, options);
}

function createJsonView(io: Io, options: ViewOptions): View {
  const lines = { verbose: options.verbose === true, sessions: (options.receivers ?? 1) !== 1 };
  return {
    onEvent: (event) => {
      const line = jsonLine(event, lines);
      if (line !== undefined) io.stdout.write(line);
    },
    during: (question) => question(),
    end: () => {},
  };
}

class PeopleView implements View {
  #io: Io;
  #options: ViewOptions;
  #line: ProgressLine;
  /** The sessions that are up, and how far each is. */
  #sessions = new Map<number, { connected: ConnectedEvent; progress?: ProgressEvent }>();

  constructor(io: Io, options: ViewOptions) {
    this.#io = io;
    this.#options = options;
    this.#line = new ProgressLine(io.stderr, io.now);
  }

  during<T>(question: () => Promise<T>): Promise<T> {
    return this.#line.during(question);
  }

  end(): void {
    this.#line.clear();
  }

  onEvent(event: PeerEvent): void {
    switch (event.type) {
      case 'code':
        this.#showCode(event.code);
        break;
      case 'text':
        this.#showText(event.text);
        break;
      case 'warning':
        this.#warn(event.path === undefined ? event.message : `${event.path}: ${event.message}`);
        break;
      case 'wrongCode':
        this.#warn(`Somebody tried a wrong code; ${event.remaining} more and the offer ends.`);
        break;
      case 'receiverLost':
        this.#sessions.delete(event.session);
        this.#warn(`${event.peer} ${leftBecause(event)}`);
        break;
      case 'receiverDone':
        this.#sessions.delete(event.session);
        this.#showReceiverDone(event);
        break;
      case 'connected':
        this.#sessions.set(event.session, { connected: event });
        this.#note(`Connected to ${harmless(event.peer)} (${event.path}, ${event.suite}).`);
        break;
      case 'waiting':
        this.#showWaiting(event.host, event.port);
        break;
      case 'progress':
        this.#showProgress(event);
        break;
      case 'file':
        if (this.#options.verbose) this.#note(harmless(event.path));
        break;
      default:
      // The offer was asked about or shows in the progress; what failed is listed at the end; the result is printed by the command.
    }
  }

  #showCode(code: string): void {
    const { stdout } = this.#io;
    stdout.write(`Code: ${paint(stdout, 'bold', code)}\n`);
    if (this.#options.quiet) return;
    stdout.write(`On the other computer: ${paint(stdout, 'bold', `keibidrop receive ${code}`)}\n`);
  }

  #showWaiting(host: string, port: number): void {
    const address = dialableAddress(host, port);
    const where = address === undefined ? `on port ${port}` : `at ${address}, for --connect`;
    this.#note(paint(this.#io.stderr, 'dim', `Waiting ${where}; Ctrl-C ends the offer.`));
  }

  #showText(text: string): void {
    const { stdout } = this.#io;
    // A program gets the text as it was sent; on a terminal it must not act.
    stdout.write(stdout.isTerminal ? `${harmlessLines(text)}\n` : text);
  }

  #showReceiverDone(event: Extract<PeerEvent, { type: 'receiverDone' }>): void {
    if (this.#options.receivers === 1) return;
    const failed = event.failed > 0 ? `, ${event.failed} failed` : '';
    this.#note(
      `${harmless(event.peer)} has ${formatCount(event.files, 'file')}, ${formatBytes(event.bytes)}${failed}.`,
    );
  }

  #showProgress(event: ProgressEvent): void {
    const session = this.#sessions.get(event.session);
    if (session === undefined || this.#options.quiet) return;
    session.progress = event;
    this.#line.show(this.#sum());
  }

  #sum(): Progress {
    const sum = { files: 0, totalFiles: 0, bytes: 0, totalBytes: 0, totalsFinal: true, bytesPerSecond: 0 };
    for (const { progress } of this.#sessions.values()) {
      if (progress === undefined) continue;
      sum.files += progress.files;
      sum.totalFiles += progress.totalFiles;
      sum.bytes += progress.bytes;
      sum.totalBytes += progress.totalBytes;
      sum.bytesPerSecond += progress.bytesPerSecond;
      sum.totalsFinal &&= progress.totalsFinal;
    }
    const [only] = this.#sessions.values();
    const count = this.#sessions.size;
    return { ...sum, via: only && count === 1 ? only.connected.path : `${count} receivers` };
  }

  #note(text: string): void {
    if (!this.#options.quiet) this.#line.note(text);
  }

  #warn(text: string): void {
    this.#line.note(paint(this.#io.stderr, 'yellow', `Warning: ${harmless(text)}`));
  }
}

/** Why a receiver has not everything, for the sender, who goes on waiting for it if the code still holds. */
function leftBecause({ code, message }: Extract<PeerEvent, { type: 'receiverLost' }>): string {
  if (code === 'OFFER_DECLINED') return 'declined the offer.';
  const left = code === 'SESSION_LOST' || code === 'SESSION_CLOSED' || code === 'CANCELLED';
  return left ? 'left before it had everything.' : `failed: ${message}`;
}
