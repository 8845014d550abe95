// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from './errors.ts';

/** One address worth dialling, with the transport that can. */
export interface Candidate {
  /** `local`, `direct`, … : lower-case letters and dashes; one this version does not know is to be passed over. */
  readonly transport: string;
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Of a `relay` alone: 32 bytes as lower hex, by which the relay knows the two connections that belong together (PROTOCOL 2.3). */
  readonly token?: string;
  /** Of a `punched` one, and only here: the port of ours from which it is to be dialled, which the peer was told (PROTOCOL 2.5). */
  readonly fromPort?: number;
}

/** Candidates in one message; a peer has no use for more. */
export const MAX_CANDIDATES = 32;

const TRANSPORT = /^[a-z][a-z-]{0,31}$/;
const HOST = /^[0-9A-Za-z:._%-]{1,255}$/;
const TOKEN = /^[0-9a-f]{64}$/;

/** The plaintext of a SEALED body: `{"v":1,"candidates":[{"transport","host","port"[,"token"]}]}` (PROTOCOL 2.2). */
export function encodeCandidates(candidates: readonly Candidate[]): Uint8Array {
  const list = candidates
    .slice(0, MAX_CANDIDATES)
    .map(({ transport, host, port, token }) => ({ transport, host, port, token }));
  return new TextEncoder().encode(JSON.stringify({ v: 1, candidates: list }));
}

/**
 * Decodes what `encodeCandidates` made; fields it does not know are passed over.
 *
 * @throws HANDSHAKE_MALFORMED
 */
export function decodeCandidates(bytes: Uint8Array): Candidate[] {
  const message = parsed(bytes);
  if (!isRecord(message) || message.v !== 1 || !Array.isArray(message.candidates)) throw malformed();
  if (message.candidates.length > MAX_CANDIDATES) throw malformed();
  return message.candidates.map(candidateOf);
}

function candidateOf(value: unknown): Candidate {
  if (!isRecord(value)) throw malformed();
  const { transport, host, port, token } = value;
  if (typeof transport !== 'string' || !TRANSPORT.test(transport)) throw malformed();
  if (typeof host !== 'string' || !HOST.test(host)) throw malformed();
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65535) throw malformed();
  if (transport !== 'relay') return { transport, host, port };
  if (typeof token !== 'string' || !TOKEN.test(token)) throw malformed();
  return { transport, host, port, token };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw malformed(cause);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function malformed(cause?: unknown): KeibiError {
  return new KeibiError('HANDSHAKE_MALFORMED', undefined, { cause });
}
