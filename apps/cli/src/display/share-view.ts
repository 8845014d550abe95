// SPDX-License-Identifier: MPL-2.0
import type { PullProgressEvent, ShareEvent } from '@keibidrop/share';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, quoted } from '../terminal/terminal-text.ts';
import { amountOf } from './outcome.ts';
import { PeopleLines } from './people-lines.ts';
import type { ProgressRow } from './progress-line.ts';

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
  readonly #options: ShareViewOptions;
  readonly #lines: PeopleLines;
  readonly #guests = new Map<number, { path: string }>();
  /** Running pulls by number. */
  readonly #pulls = new Map<number, { name: string; session: number; progress?: PullProgressEvent }>();

  constructor(io: Io, options: ShareViewOptions) {
    this.#options = options;
    this.#lines = new PeopleLines(io, options);
  }

  end(): void {
    this.#lines.clear();
  }

  onEvent(event: ShareEvent): void {
    switch (event.type) {
      case 'code':
        this.#lines.code(event.code, 'connect');
        break;
      case 'waiting':
        this.#showWaiting(event.host, event.port);
        break;
      case 'connected': {
        const back = this.#guests.has(event.session) ? 'is back' : 'is here';
        this.#guests.set(event.session, { path: event.path });
        this.#lines.note(`${guestOf(event)} ${back} (${event.path}, ${event.suite}).`);
        break;
      }
      case 'guestLeft':
        this.#lines.note(`${guestOf(event)} ${event.mayReturn ? 'is away: the connection was lost.' : 'has left.'}`);
        break;
      case 'pull':
        this.#pulls.set(event.pull, { name: guestOf(event), session: event.session });
        this.#lines.note(`${guestOf(event)} downloads ${namesOf(event)}.`);
        break;
      case 'progress':
        this.#showProgress(event);
        break;
      case 'pulled':
        this.#pulls.delete(event.pull);
        this.#lines.note(
          `${guestOf(event)} has ${amountOf(event)}.${event.failed > 0 ? ` ${event.failed} failed.` : ''}`,
        );
        break;
      case 'pullFailed':
        this.#pulls.delete(event.pull);
        this.#lines.note(`${guestOf(event)} did not get everything: ${harmless(event.message)}`);
        break;
      case 'inviting':
        if (event.state === 'absent') this.#lines.dim(`${event.contact} is offline, and will be invited once online.`);
        if (event.state === 'invited') this.#lines.dim(`${event.contact} is online and has the invitation.`);
        if (event.state === 'taken') this.#lines.dim(`${event.contact} has accepted.`);
        break;
      case 'warning':
        this.#lines.warning(event);
        break;
      case 'wrongCode':
        this.#lines.warn(`A wrong code was tried; after ${event.remaining} more no new guest can join for a while.`);
        break;
      case 'rendezvous':
        this.#lines.rendezvous(event);
        break;
      case 'mapping':
        this.#lines.mapping(event);
    }
  }

  #showWaiting(host: string, port: number): void {
    this.#lines.dim(`Sharing ${quoted(this.#options.dir)} ${this.#lines.whereReached(host, port)}; Ctrl-C ends it.`);
    if (!this.#options.readOnly) this.#lines.dim(CAN_CHANGE);
  }

  #showProgress(event: PullProgressEvent): void {
    const pull = this.#pulls.get(event.pull);
    if (pull === undefined) return;
    pull.progress = event;
    const rows = () => [...this.#pulls.values()].map((one) => this.#rowOf(one));
    this.#lines.progress({ rows, plainRows: rows, noun: 'download' });
  }

  #rowOf({ name, session, progress }: { name: string; session: number; progress?: PullProgressEvent }): ProgressRow {
    const file = progress?.file === undefined ? {} : { file: harmless(progress.file) };
    return { name, ...(progress && { progress }), ...file, via: this.#guests.get(session)?.path ?? '' };
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
