// SPDX-License-Identifier: MPL-2.0
import {
  type Code,
  decodeMeetingMessage,
  encodeMeetingMessage,
  KeibiError,
  type MeetingMessage,
  type MessagePipe,
  otherVersion,
  PROTOCOL_VERSION,
  type Refusal,
  SID_BYTES,
} from '@keibidrop/protocol';
import { expand, hmacSha512 } from '../keys/hkdf.ts';
import { loadSodium, type Sodium, wipe } from '../keys/sodium.ts';
import {
  calculateGenerator,
  intermediateSessionKey,
  sampleScalar,
  scalarMult,
  scalarMultVfy,
  transcriptIr,
} from './pake.ts';

/**
 * The shared secrets of two peers that met with the same code (PROTOCOL 2.2). All secret except `attempt`; `wipe()`
 * them when done.
 */
export interface Meeting {
  /** 16 bytes with which the handshake names this meeting. */
  readonly attempt: Uint8Array;
  /** 32 bytes that authenticate the handshake. */
  readonly auth: Uint8Array;
  /** Seal the bodies of the guest and of the owner. */
  readonly sealGuest: Uint8Array;
  readonly sealOwner: Uint8Array;
  wipe(): void;
}

/** The associated data of both sides: the version. */
const VERSION = Uint8Array.of(1);

const refusalCodes = {
  'wrong-code': 'CODE_WRONG',
  'code-exhausted': 'CODE_EXHAUSTED',
  busy: 'PEER_BUSY',
  'unknown-session': 'HANDSHAKE_MALFORMED',
  locked: 'PEER_BUSY',
} as const satisfies Record<Refusal, string>;

const LOCKED =
  'Wrong codes were tried at this share, so it lets no new guests in for a while. Try again later, or ask for a new code.';

/**
 * Meets the owner of a mailbox, as PROTOCOL 2.2 draws it. Closes the pipe on failure.
 *
 * @throws CODE_WRONG, CODE_EXHAUSTED or PEER_BUSY when the owner refuses; HANDSHAKE_MALFORMED; HANDSHAKE_TAMPERED when
 * the owner accepts us but cannot prove that it knows the code; the errors of the pipe
 */
export async function meetAsGuest(
  pipe: MessagePipe,
  code: Code,
  { signal }: { signal: AbortSignal },
): Promise<Meeting> {
  signal.throwIfAborted();
  const sodium = await loadSodium();
  const sid = sodium.randombytes_buf(SID_BYTES);
  const own = createShare(sodium, code, sid);
  let isk: Uint8Array | undefined;
  try {
    await pipe.send(encodeMeetingMessage({ kind: 'hello', sid, ya: own.share }));
    const { yb } = await receive(pipe, 'share', signal);
    isk = sharedKey(sodium, own.scalar, { sid, ya: own.share, yb, peerShare: yb });
    const run = { sid, ya: own.share, yb };
    await pipe.send(encodeMeetingMessage({ kind: 'guest-confirm', ta: tagOf(sodium, isk, 'guest', run) }));
    const { tb } = await receive(pipe, 'owner-confirm', signal);
    if (!sodium.memcmp(tb, tagOf(sodium, isk, 'owner', run))) throw new KeibiError('HANDSHAKE_TAMPERED');
    return meetingOf(sodium, isk);
  } catch (error) {
    pipe.close();
    throw error;
  } finally {
    wipe(own.scalar, isk);
  }
}

export interface OwnerOptions {
  readonly signal: AbortSignal;
  /** The guest's first body, if it has already been received. */
  readonly first?: Uint8Array;
  /**
   * Called right before a guess is judged; a returned reason refuses the guess. Guests meet concurrently, so a check at
   * their arrival is too early.
   */
  refusal?(): Refusal | undefined;
  /** Called for a wrong guess, before the next guess is judged. */
  onWrongGuess?(): void;
}

/**
 * Meets one guest of our mailbox. Closes the pipe on failure, after it has notified a guest whose code is wrong.
 *
 * @throws CODE_WRONG, CODE_EXHAUSTED or PEER_BUSY when no further guess is allowed; HANDSHAKE_MALFORMED; the errors of
 * the pipe. Only CODE_WRONG reveals to the guest anything about the code.
 */
export async function meetAsOwner(
  pipe: MessagePipe,
  code: Code,
  { signal, first, refusal = () => undefined, onWrongGuess = () => {} }: OwnerOptions,
): Promise<Meeting> {
  signal.throwIfAborted();
  const sodium = await loadSodium();
  let own: Share | undefined;
  let isk: Uint8Array | undefined;
  try {
    const { sid, ya } = taken(first ?? (await pipe.receive({ signal })), 'hello');
    own = createShare(sodium, code, sid);
    const run = { sid, ya, yb: own.share };
    isk = sharedKey(sodium, own.scalar, { ...run, peerShare: ya });
    await pipe.send(encodeMeetingMessage({ kind: 'share', yb: own.share }));
    const { ta } = await receive(pipe, 'guest-confirm', signal);
    const refused = refusal();
    if (refused !== undefined) {
      await refuseGuest(pipe, refused);
      throw new KeibiError(refusalCodes[refused]);
    }
    if (!sodium.memcmp(ta, tagOf(sodium, isk, 'guest', run))) {
      onWrongGuess();
      await refuseGuest(pipe, 'wrong-code');
      throw new KeibiError('CODE_WRONG', 'A guest used a wrong code and was refused.');
    }
    await pipe.send(encodeMeetingMessage({ kind: 'owner-confirm', tb: tagOf(sodium, isk, 'owner', run) }));
    return meetingOf(sodium, isk);
  } catch (error) {
    pipe.close();
    throw error;
  } finally {
    wipe(own?.scalar, isk);
  }
}

/** Notifies a guest of another version, and ends the conversation. */
export async function refuseVersion(pipe: MessagePipe): Promise<void> {
  try {
    await pipe.send(encodeMeetingMessage({ kind: 'other-version', version: PROTOCOL_VERSION }));
  } finally {
    pipe.close();
  }
}

/** Refuses a guest at any point before its confirmation, and ends the conversation. */
export async function refuseGuest(pipe: MessagePipe, refusal: Refusal): Promise<void> {
  try {
    await pipe.send(encodeMeetingMessage({ kind: 'refused', refusal }));
  } finally {
    pipe.close();
  }
}

interface Share {
  readonly scalar: Uint8Array;
  readonly share: Uint8Array;
}

/** The values that both peers have seen on the wire. */
interface Run {
  readonly sid: Uint8Array;
  readonly ya: Uint8Array;
  readonly yb: Uint8Array;
}

function createShare(sodium: Sodium, code: Code, sid: Uint8Array): Share {
  const encoder = new TextEncoder();
  const prs = encoder.encode(code.words.join('-'));
  const generator = calculateGenerator(sodium, { prs, ci: encoder.encode(`KeibiDrop v1 ${code.nameplate}`), sid });
  const scalar = sampleScalar(sodium);
  const share = scalarMult(sodium, scalar, generator);
  wipe(prs, generator);
  return { scalar, share };
}

function sharedKey(sodium: Sodium, scalar: Uint8Array, run: Run & { peerShare: Uint8Array }): Uint8Array {
  const k = scalarMultVfy(sodium, scalar, run.peerShare);
  if (k === undefined) throw new KeibiError('HANDSHAKE_MALFORMED');
  const transcript = transcriptIr(run.ya, VERSION, run.yb, VERSION);
  const isk = intermediateSessionKey(sodium, { sid: run.sid, k, transcript });
  wipe(k);
  return isk;
}

function tagOf(sodium: Sodium, isk: Uint8Array, who: 'guest' | 'owner', { sid, ya, yb }: Run): Uint8Array {
  const key = expand(sodium, isk, `KeibiDrop CPace confirm ${who}`, 64);
  const tag = hmacSha512(sodium, key, sid, ya, yb).subarray(0, 32);
  wipe(key);
  return tag;
}

function meetingOf(sodium: Sodium, isk: Uint8Array): Meeting {
  const attempt = expand(sodium, isk, 'KeibiDrop CPace attempt', 16);
  const auth = expand(sodium, isk, 'KeibiDrop CPace auth', 32);
  const sealGuest = expand(sodium, isk, 'KeibiDrop CPace seal guest', 32);
  const sealOwner = expand(sodium, isk, 'KeibiDrop CPace seal owner', 32);
  return { attempt, auth, sealGuest, sealOwner, wipe: () => wipe(auth, sealGuest, sealOwner) };
}

async function receive<K extends MeetingMessage['kind']>(
  pipe: MessagePipe,
  kind: K,
  signal: AbortSignal,
): Promise<Extract<MeetingMessage, { kind: K }>> {
  return taken(await pipe.receive({ signal }), kind);
}

function taken<K extends MeetingMessage['kind']>(body: Uint8Array, kind: K): Extract<MeetingMessage, { kind: K }> {
  const message = decodeMeetingMessage(body);
  if (isKind(message, kind)) return message;
  if (message.kind === 'other-version') throw otherVersion(message.version, { remote: true });
  // A guest cannot refuse an owner. If one claims to, ending the meeting is safe.
  if (message.kind === 'refused') {
    const text = message.refusal === 'locked' ? LOCKED : undefined;
    throw new KeibiError(refusalCodes[message.refusal], text, { detail: { remote: true } });
  }
  throw new KeibiError('HANDSHAKE_MALFORMED');
}

function isKind<K extends MeetingMessage['kind']>(
  message: MeetingMessage,
  kind: K,
): message is Extract<MeetingMessage, { kind: K }> {
  return message.kind === kind;
}
