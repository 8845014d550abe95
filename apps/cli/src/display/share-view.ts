// SPDX-License-Identifier: MPL-2.0
import type { PullProgressEvent, ShareEvent } from '@keibidrop/share';
import type { PeerPackage } from '../peer-package.ts';
import { type Io, paint } from '../terminal/io.ts';
import { RepaintedLines } from '../terminal/repainted-lines.ts';
import { harmless, quoted, shortened } from '../terminal/terminal-text.ts';
import { formatCount, formatRate } from './format.ts';
import { dialableAddress } from './local-address.ts';
import { amountOf } from './outcome.ts';
import { type ProgressRow, progressLines } from './progress-line.ts';

export interface ShareViewOptions {
  dir: string;
  readOnly?: boolean;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  relayOnly?: boolean;
}

/** Shows the guests of a share and their downloads while it is open. */
export interface ShareView {
  onEvent(event: ShareEvent): void;
  /** Clears the repainted lines. Idempotent. */
  end(): void;
}

export function createShareView(
  io: Io,
  { shareEventJson }: Pick<PeerPackage, 'shareEventJson'>,
  options: ShareViewOptions,
): ShareView {
  if (!options.json) return new PeopleShareView(io, options);
  return { onEvent: (event) => io.stdout.write(`${JSON.stringify(shareEventJson(event))}\n`), end: () => {} };
}

const NAMED_PATHS = 3;

/** Warning for the owner of a share without --read-only. */
export const CAN_CHANGE = 'Guests can also change its contents, unless you share it with --read-only.';

class PeopleShareView implements ShareView {
  readonly #io: Io;
  readonly #options: ShareViewOptions;
  readonly #lines: RepaintedLines;
  readonly #guests = new Map<number, { path: string }>();
  /** Running pulls by number. */
  readonly #pulls = new Map<number, { name: string; session: number; progress?: PullProgressEvent }>();

  constructor(io: Io, options: ShareViewOptions) {
    this.#io = io;
    this.#options = options;
    this.#lines = new RepaintedLines(io.stderr, io.now);
  }

  end(): void {
    this.#lines.clear();
  }

  onEvent(event: ShareEvent): void {
    switch (event.type) {
      case 'code':
        this.#showCode(event.code);
        break;
      case 'waiting':
        this.#showWaiting(event.host, event.port);
        break;
      case 'connected': {
        const back = this.#guests.has(event.session) ? 'is back' : 'is here';
        this.#guests.set(event.session, { path: event.path });
        this.#note(`${guestOf(event)} ${back} (${event.path}, ${event.suite}).`);
        break;
      }
      case 'guestLeft':
        this.#note(`${guestOf(event)} ${event.mayReturn ? 'is away: the connection was lost.' : 'has left.'}`);
        break;
      case 'pull':
        this.#pulls.set(event.pull, { name: guestOf(event), session: event.session });
        this.#note(`${guestOf(event)} downloads ${namesOf(event)}.`);
        break;
      case 'progress':
        this.#showProgress(event);
        break;
      case 'pulled':
        this.#pulls.delete(event.pull);
        this.#note(`${guestOf(event)} has ${amountOf(event)}.${event.failed > 0 ? ` ${event.failed} failed.` : ''}`);
        break;
      case 'pullFailed':
        this.#pulls.delete(event.pull);
        this.#note(`${guestOf(event)} did not get everything: ${harmless(event.message)}`);
        break;
      case 'inviting':
        if (event.state === 'absent') this.#dim(`${event.contact} is offline, and will be invited once online.`);
        if (event.state === 'told') this.#dim(`${event.contact} is online and is being asked.`);
        if (event.state === 'taken') this.#dim(`${event.contact} has accepted.`);
        break;
      case 'warning':
        this.#warn(event.path === undefined ? event.message : `${event.path}: ${event.message}`);
        break;
      case 'wrongCode':
        this.#warn(`A wrong code was tried; after ${event.remaining} more no new guest can join for a while.`);
        break;
      case 'rendezvous':
        if (event.state === 'lost') this.#warn(`${event.message} Retrying.`);
        else this.#dim(`Waiting at the rendezvous ${event.address}${event.relay ? ', which relays' : ''}.`);
        break;
      case 'mapping':
        if (this.#options.verbose && event.state === 'open')
          this.#dim(`The router forwards ${event.address} to this computer (${event.by}).`);
    }
  }

  #showCode(code: string): void {
    const { stdout } = this.#io;
    stdout.write(`Code: ${paint(stdout, 'bold', code)}\n`);
    if (this.#options.quiet) return;
    stdout.write(`On the other computer: ${paint(stdout, 'bold', `keibidrop connect ${code}`)}\n`);
  }

  #showWaiting(host: string, port: number): void {
    const address = this.#options.relayOnly ? undefined : dialableAddress(host, port);
    const unnamed = this.#options.relayOnly ? 'for a relay' : `on port ${port}`;
    const where = address === undefined ? unnamed : `at ${address}, for --connect`;
    this.#dim(`Sharing ${quoted(this.#options.dir)} ${where}; Ctrl-C ends it.`);
    if (!this.#options.readOnly) this.#dim(CAN_CHANGE);
  }

  #showProgress(event: PullProgressEvent): void {
    const pull = this.#pulls.get(event.pull);
    if (pull === undefined || this.#options.quiet) return;
    pull.progress = event;
    this.#lines.show({
      lines: (columns, rows) => this.#picture(columns, rows),
      plainLine: () =>
        progressLines(
          [...this.#pulls.values()].map((one) => this.#rowOf(one)),
          Number.POSITIVE_INFINITY,
        ).join('\n'),
    });
  }

  /** One line per pull; if they do not fit, the last line sums up the rest. */
  #picture(columns: number, rows: number): string[] {
    const pulls = [...this.#pulls.values()];
    const shown = pulls.length > rows ? pulls.slice(0, rows - 1) : pulls;
    const lines = progressLines(
      shown.map((pull) => this.#rowOf(pull)),
      columns,
    );
    const rest = pulls.slice(shown.length);
    if (rest.length === 0) return lines;
    const rate = rest.reduce((sum, { progress }) => sum + (progress?.bytesPerSecond ?? 0), 0);
    return [...lines, shortened(`and ${formatCount(rest.length, 'other')}, ${formatRate(rate)}`, columns)];
  }

  #rowOf({ name, session, progress }: { name: string; session: number; progress?: PullProgressEvent }): ProgressRow {
    return { name, ...(progress && { progress }), via: this.#guests.get(session)?.path ?? '' };
  }

  #dim(text: string): void {
    this.#note(paint(this.#io.stderr, 'dim', harmless(text)));
  }

  #note(text: string): void {
    if (!this.#options.quiet) this.#lines.note(text);
  }

  #warn(text: string): void {
    this.#lines.note(paint(this.#io.stderr, 'yellow', `Warning: ${harmless(text)}`));
  }
}

/** Guests may have the same name, so a number comes first. */
function guestOf({ session, peer }: { session: number; peer: string }): string {
  return harmless(`${session} ${peer}`);
}

function namesOf({ paths, pathCount }: { paths: string[]; pathCount: number }): string {
  const named = paths.slice(0, NAMED_PATHS).map((path) => (path === '' ? 'everything' : quoted(path)));
  return pathCount > named.length ? `${named.join(', ')} and ${pathCount - named.length} more` : named.join(', ');
}
