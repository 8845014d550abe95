// SPDX-License-Identifier: MPL-2.0
import { lookup } from 'node:dns/promises';
import { isIP, Socket } from 'node:net';
import { dialFrom } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import { formatHostPort, type HostPort } from '../host-port.ts';

export interface PortDialOptions {
  /** Our local port, which one of our listeners may share. 0: chosen by the system; reuse it through `socket.localPort`. */
  fromPort: number;
  /** Retry while the other side refuses: it dials us at the same time. */
  insist?: boolean;
  timeoutMs?: number;
  signal: AbortSignal;
}

/** Limit for one address; NEXT_ADDRESS_MS while another address is left to try. */
const DIAL_TIMEOUT_MS = 10_000;
const NEXT_ADDRESS_MS = 2000;

/**
 * Opens a TCP connection from one of our ports, so that NATs on the way map it to the address that others already know.
 * A name's addresses are tried one after the other, IPv4 first, because NATs are on IPv4.
 *
 * @throws  PEER_UNREACHABLE with the system's error as its cause; `signal.reason` on abort
 */
export async function dialFromPort(place: HostPort, options: PortDialOptions): Promise<Socket> {
  const { fromPort, insist = false, timeoutMs = DIAL_TIMEOUT_MS, signal } = options;
  let cause: unknown;
  const hosts = await addressesOf(place, signal);
  for (const [i, host] of hosts.entries()) {
    const patienceMs = i < hosts.length - 1 ? Math.min(timeoutMs, NEXT_ADDRESS_MS) : timeoutMs;
    try {
      const fd = await dialFrom({ fromPort, host, port: place.port, insist, timeoutMs: patienceMs, signal });
      return new Socket({ fd, readable: true, writable: true }).setNoDelay(true);
    } catch (reason) {
      signal.throwIfAborted();
      cause = asNodeSays(reason, { host, port: place.port });
    }
  }
  throw unreachable(place, cause);
}

async function addressesOf(place: HostPort, signal: AbortSignal): Promise<string[]> {
  signal.throwIfAborted();
  if (isIP(place.host) !== 0) return [place.host];
  try {
    const found = await lookup(place.host, { all: true, order: 'ipv4first' });
    signal.throwIfAborted();
    return found.map(({ address }) => address);
  } catch (cause) {
    signal.throwIfAborted();
    throw unreachable(place, cause);
  }
}

function unreachable(place: HostPort, cause: unknown): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', `Nothing answers at ${formatHostPort(place)}.`, { cause });
}

/** Gives an error of the native dial the form of Node's own, with the system's error name as `code`. */
function asNodeSays(reason: unknown, place: HostPort): unknown {
  const name = reason instanceof Error && 'errnoName' in reason ? reason.errnoName : undefined;
  if (typeof name !== 'string') return reason;
  const message = `connect ${name} ${formatHostPort(place)}`;
  return Object.assign(new Error(message, { cause: reason }), { code: name });
}
