// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from './errors.ts';

/** One address worth dialling, with the transport for it. */
export interface Candidate {
  /** `local`, `direct`, …: lower-case letters and dashes. Skip a transport that this version does not know. */
  readonly transport: string;
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Only for `relay`: 32 bytes as lower hex, by which the relay pairs the two connections (PROTOCOL 2.3). */
  readonly token?: string;
  /** Only for `punched`, and never sent: our port to dial from, which we have announced to the peer (PROTOCOL 2.5). */
  readonly fromPort?: number;
}

/** Limit of candidates in one message. */
export const MAX_CANDIDATES = 32;

const TRANSPORT = /^[a-z][a-z-]{0,31}$/;
const HOST = /^[0-9A-Za-z:._%-]{1,255}$/;
const TOKEN = /^[0-9a-f]{64}$/;

/** Plaintext of a SEALED body: `{"v":1,"candidates":[{"transport","host","port"[,"token"]}]}` (PROTOCOL 2.2). */
export function encodeCandidates(candidates: readonly Candidate[]): Uint8Array {
  const list = candidates
    .slice(0, MAX_CANDIDATES)
    .map(({ transport, host, port, token }) => ({ transport, host, port, token }));
  return new TextEncoder().encode(JSON.stringify({ v: 1, candidates: list }));
}

/**
 * Decodes the output of `encodeCandidates`; ignores unknown fields.
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
