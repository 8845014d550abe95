// SPDX-License-Identifier: MPL-2.0
import { formatHostPort } from '@keibidrop/discovery';
import { type Candidate, KeibiError } from '@keibidrop/protocol';
import { type Meeting, prepareHandshake, type ReturnSecret } from '@keibidrop/session';
import { watchOwnAddresses } from './address-watch.ts';
import { dialSender, type ReachedSender } from './dial-sender.ts';
import type { MeetOptions } from './meet-sender.ts';

/** A session that ended without a verdict, and what leads back to its sender. */
export interface LostSession {
  readonly reason: KeibiError;
  /** Where the sender was reached, and every other address it has told. */
  readonly known: readonly Candidate[];
  /** By any of which the sender may know the session, the likeliest first. */
  readonly secrets: readonly ReturnSecret[];
}

export interface ReconnectOptions {
  receive: Omit<MeetOptions, 'addressFile' | 'code'>;
  /** Asks for the sender's addresses of now, and meets it once more. Absent where a person has named the only one to be dialled. */
  lookAgain?:
    | ((secret: ReturnSecret, signal: AbortSignal) => Promise<{ meeting: Meeting; candidates: Candidate[] }>)
    | undefined;
  /** A sender that has ended may begin anew, which is not for this to wait for: the first sign that nobody is there is enough. */
  mayBeginAnew?: boolean;
}

/** Between two tries: the first, doubled with each that fails, and the longest. All by chance up to a quarter less. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** One try: a dial may be on its way that long, and one that is sent into a gap is sent again by TCP meanwhile. */
const TRY_MS = 15_000;
/** Ways that the sender has opened for one try. */
const USED_UP: readonly string[] = ['relay', 'punched'];
/** How long a receiver tries unless told otherwise. */
export const PATIENCE_MS = 24 * 60 * 60_000;
/**
 * A sender whose connection has ended, and at whose address nobody listens, has ended too, and one that is started there does not know the
 * session; this is for a firewall or a router that refuses for a moment. A rendezvous that has been restarted does not know its mailboxes
 * until their owners come back, which may take them 30 s.
 */
const REFUSED_PATIENCE_MS = 5000;
const NOT_FOUND_PATIENCE_MS = 45_000;

/**
 * Comes back to the sender of a lost session, however long that takes.
 *
 * @throws SESSION_LOST when patience is over, or the sender shows to have ended; `signal.reason` on abort
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

/** Dials what is known and asks for what is new, side by side; whoever proves first to be the sender is it. */
async function tryOnce(secret: ReturnSecret, lost: LostSession, { receive, lookAgain }: ReconnectOptions) {
  const over = new AbortController();
  const signal = AbortSignal.any([receive.signal, over.signal, AbortSignal.timeout(TRY_MS)]);
  let claimed = false;
  const claim = () => {
    if (claimed) throw new KeibiError('CANCELLED', 'Another way was quicker.');
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
    over.abort(new KeibiError('CANCELLED', 'Another way was quicker.'));
  }
}

/** How a sender shows that it is not there any more, rather than out of reach. */
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

/** Nobody listens at an address, or somebody who knows nothing of the session. */
function saysNobody({ cause, detail }: KeibiError): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED' || detail?.alert === 'unknown-attempt';
}

function patienceWith(kind: Absence): number {
  return kind === 'refused' ? REFUSED_PATIENCE_MS : NOT_FOUND_PATIENCE_MS;
}

/** Waits, but no longer than until this machine has other addresses: that is the moment to try. @throws `signal.reason` on abort */
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

/** @param failures  tries in a row that failed */
function pauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (1 - Math.random() / 4);
}

function senderEnded(cause: unknown): KeibiError {
  const message =
    'The connection was lost, and the sender is not there any more. Send again, then run the same command to go on.';
  return new KeibiError('SESSION_LOST', message, { cause });
}

/** What happened, without what an error would say to do. */
function sentenceOf({ detail, message }: KeibiError): string {
  return detail?.silent === true ? message : 'The connection was lost.';
}

function patienceOver(reason: KeibiError, cause: unknown): KeibiError {
  const text = `${sentenceOf(reason)} The sender could not be reached again in time. Run the same command to go on.`;
  return new KeibiError('SESSION_LOST', text, { cause });
}
