// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { ALL_SUITES, KeibiError } from '@keibidrop/protocol';
import {
  handshakeAsInitiator,
  handshakeAsResponder,
  type InitiatorOptions,
  type ResponderOptions,
} from '../src/handshake/handshake.ts';
import { type Alter, type From, relayHandshake } from './handshake-relay.ts';
import type { TcpPairs } from './tcp-pairs.ts';

/** The meeting of every handshake in these tests. */
export const attempt = new Uint8Array(16).fill(0xa7);
export const auth = new Uint8Array(32).fill(0xa8);

/** Both suites, hardware AES, and a signal that never aborts. */
export const willing = { suites: ALL_SUITES, hardware: true, signal: new AbortController().signal, timeoutMs: 2_000 };

/** Forwards every message unchanged. */
export const asIs: Alter = (message) => message;

export interface Outcome {
  initiator: Awaited<ReturnType<typeof handshakeAsInitiator>> | KeibiError;
  responder: Awaited<ReturnType<typeof handshakeAsResponder>> | KeibiError;
  initiatorSocket: Socket;
  responderSocket: Socket;
}

/** Runs one handshake over real sockets through a man in the middle, until both sides end. */
export async function shakeHands(
  pairs: TcpPairs,
  alter: Alter,
  overrides: { initiator?: Partial<InitiatorOptions>; responder?: Partial<ResponderOptions> } = {},
): Promise<Outcome> {
  const [[initiatorSocket, left], [right, responderSocket]] = await Promise.all([pairs.open(), pairs.open()]);
  relayHandshake(left, right, alter);
  const [initiator, responder] = await Promise.all([
    handshakeAsInitiator(initiatorSocket, { ...willing, attempt, auth, ...overrides.initiator }).catch(asKeibiError),
    handshakeAsResponder(responderSocket, {
      ...willing,
      authOf: (asked) => (Buffer.from(asked).equals(attempt) ? auth : undefined),
      ...overrides.responder,
    }).catch(asKeibiError),
  ]);
  return { initiator, responder, initiatorSocket, responderSocket };
}

/** How each side ended: `ok` or the code of its error. */
export function codesOf({ initiator, responder }: Outcome): { initiator: string; responder: string } {
  const codeOf = (result: object) => (result instanceof KeibiError ? result.code : 'ok');
  return { initiator: codeOf(initiator), responder: codeOf(responder) };
}

function asKeibiError(error: unknown): KeibiError {
  if (error instanceof KeibiError) return error;
  throw error;
}

/** All bytes that the two sides of an honest handshake sent, by sender. */
export async function recorded(pairs: TcpPairs): Promise<Record<From, Uint8Array[]>> {
  const sent: Record<From, Uint8Array[]> = { initiator: [], responder: [] };
  const { initiatorSocket, responderSocket } = await shakeHands(pairs, (message, from) => {
    sent[from].push(message.slice());
    return message;
  });
  initiatorSocket.destroy();
  responderSocket.destroy();
  return sent;
}
