// SPDX-License-Identifier: MPL-2.0
import { formatHostPort } from '@keibidrop/discovery';
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import { type Meeting, prepareHandshake, type ReturnSecret } from '@keibidrop/session';
import { dialSender, type ReachedSender } from '../meeting/dial-sender.ts';
import type { MeetOptions } from '../meeting/find-sender.ts';
import { watchOwnAddresses } from './address-watch.ts';

/** A session that ended without a verdict, and the data for finding its sender again. */
export interface LostSession {
  readonly reason: KeibiError;
  /** The address at which the sender was reached, and every other address it has sent. */
  readonly known: readonly Candidate[];
  /** Secrets by which the sender may know the session, the likeliest first. */
  readonly secrets: readonly ReturnSecret[];
}

export interface ReconnectOptions {
  receive: Omit<MeetOptions, 'addressFile' | 'code'>;
  /** Meets the sender again and returns its current addresses. Absent if the user named the only address to dial. */
  lookAgain?:
    | ((secret: ReturnSecret, signal: AbortSignal) => Promise<{ meeting: Meeting; candidates: Candidate[] }>)
    | undefined;
  /** True: the sender may start over, which the caller handles. So the first sign of its absence ends the wait. */
  mayBeginAnew?: boolean;
}

/** The first pause between attempts, doubled with each failure, and the longest. Each is randomly shortened by up to a quarter. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** Time limit of one attempt: as long as a dial may take, including TCP's own retries. */
const TRY_MS = 15_000;
/** Candidates that the sender opens for one attempt only. */
const USED_UP: readonly string[] = ['relay', 'punched'];
/** How long a receiver tries by default. */
export const PATIENCE_MS = 24 * 60 * 60_000;
/**
 * Patience for a sender that seems to have ended.
 *
 * If the connection has ended and its address refuses, the sender has ended too; a new sender there does not know the session.
 * The wait covers a firewall or a router that refuses for a moment. A restarted rendezvous does not know its mailboxes until
 * their owners return, which may take 30 s.
 */
const REFUSED_PATIENCE_MS = 5000;
const NOT_FOUND_PATIENCE_MS = 45_000;

/**
 * Reconnects to the sender of a lost session, retrying as long as patience lasts.
 *
 * @throws SESSION_LOST when patience is over or the sender has ended; `signal.reason` on abort
 */
export async function reconnect(lost: LostSession, options: ReconnectOptions): Promise<ReachedSender> {
  const { signal, onEvent, patienceMs = PATIENCE_MS } = options.receive;
  const began = performance.now();
  let absence: { kind: Absence; since: number } | undefined;
  for (let attempt = 1; ; attempt++) {
    const left = Math.max(0, patienceMs - (performance.now() - began));
    const nextInMs = Math.round(Math.min(left, pauseMs(attempt - 1)));
    onEvent({ type: 'reconnecting', reason: sentenceOf(lost.reason), attempt, nextInMs });
    await pause(nextInMs, signal);
    const secret = lost.secrets[(attempt - 1) % lost.secrets.length] as ReturnSecret;
    try {
      return await tryOnce(secret, lost, options);
    } catch (reason) {
      signal.throwIfAborted();
      const now = performance.now();
      const kind = absenceOf(reason, lost, options);
      absence = kind && { kind, since: absence?.kind === kind ? absence.since : now };
      const waited = absence && (options.mayBeginAnew || now - absence.since > patienceWith(absence.kind));
      if (waited) throw senderEnded(reason);
      if (now - began >= patienceMs) throw patienceOver(lost.reason, reason);
    }
  }
}

/** Dials the known addresses and asks for new ones, in parallel. The first path on which the sender proves its identity wins. */
async function tryOnce(secret: ReturnSecret, lost: LostSession, { receive, lookAgain }: ReconnectOptions) {
  const over = new AbortController();
  const signal = AbortSignal.any([receive.signal, over.signal, AbortSignal.timeout(TRY_MS)]);
  let claimed = false;
  const claim = () => {
    if (claimed) throw new KeibiError('CANCELLED', 'Another path was faster.');
    claimed = true;
  };
  const dial = async (candidates: readonly Candidate[], meeting: Pick<Meeting, 'attempt' | 'auth'>) => {
    const prepared = prepareHandshake('initiator');
    try {
      return await dialSender(candidates, meeting, prepared, { ...receive, signal, claim });
    } finally {
      void prepared.then(({ wipe }) => wipe());
    }
  };
  const reusable = lost.known.filter(({ transport }) => !USED_UP.includes(transport));
  const known = dial(reusable, secret);
  const fresh = lookAgain?.(secret, signal).then(async ({ meeting, candidates }) => {
    try {
      return await dial(candidates, meeting);
    } finally {
      meeting.wipe();
    }
  });
  try {
    return await Promise.any(fresh === undefined ? [known] : [known, fresh]);
  } finally {
    over.abort(new KeibiError('CANCELLED', 'Another path was faster.'));
  }
}

/** The sign that a sender has ended, rather than being out of reach. */
type Absence = 'refused' | 'not-found';

function absenceOf(
  failure: unknown,
  { reason, known }: LostSession,
  { receive }: ReconnectOptions,
): Absence | undefined {
  const errors: unknown[] = failure instanceof AggregateError ? failure.errors : [failure];
  const tries = errors.flatMap(attemptsOf);
  const [last] = known;
  const place = last && !USED_UP.includes(last.transport) ? formatHostPort(last) : undefined;
  const spoken = reason.detail?.silent !== true;
  if (spoken && tries.some(({ address, error }) => (address ?? place) === place && saysNobody(error))) return 'refused';
  const named = receive.reach.rendezvous !== undefined;
  return named && tries.some(({ error }) => error.code === 'RENDEZVOUS_NOT_FOUND') ? 'not-found' : undefined;
}

function attemptsOf(error: unknown): { address?: string; error: KeibiError }[] {
  if (!(error instanceof KeibiError)) return [];
  const { attempts } = (error.detail ?? {}) as { attempts?: { address: string; error: KeibiError }[] };
  return [{ error }, ...(attempts ?? [])];
}

/** The address refuses connections, or its listener does not know the session. */
function saysNobody({ cause, detail }: KeibiError): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED' || detail?.alert === 'unknown-attempt';
}

function patienceWith(kind: Absence): number {
  return kind === 'refused' ? REFUSED_PATIENCE_MS : NOT_FOUND_PATIENCE_MS;
}

/** Waits, but ends early when this machine's addresses change, because a retry may then succeed. @throws `signal.reason` on abort */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const settle = (how: () => void) => {
      clearTimeout(timer);
      unwatch();
      signal.removeEventListener('abort', onAbort);
      how();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    const unwatch = watchOwnAddresses(() => settle(resolve));
    const timer = setTimeout(() => settle(resolve), ms);
    signal.addEventListener('abort', onAbort);
  });
}

/** @param failures  consecutive failed attempts */
function pauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (1 - Math.random() / 4);
}

function senderEnded(cause: unknown): KeibiError {
  const message =
    'The connection was lost, and the sender has ended. Send again, then run the same command to continue.';
  return new KeibiError('SESSION_LOST', message, { cause });
}

/** The event itself, without the advice of the error message. */
function sentenceOf({ detail, message }: KeibiError): string {
  return detail?.silent === true ? message : 'The connection was lost.';
}

function patienceOver(reason: KeibiError, cause: unknown): KeibiError {
  const text = `${sentenceOf(reason)} The sender could not be reached again in time. Run the same command to continue.`;
  return new KeibiError('SESSION_LOST', text, { cause });
}
