// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { assertBoolean, assertInteger, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';

interface NativeDial {
  open(): Promise<number>;
  cancel(): void;
}

interface DialBinding {
  Dial: new (fromPort: number, host: string, port: number, timeoutMs: number, insist: boolean) => NativeDial;
}

export interface DialFromOptions {
  /** The local port, which a Listener and other such connections may use too; 0: any free port. */
  fromPort: number;
  /** Numeric. */
  host: string;
  port: number;
  timeoutMs: number;
  /** Retry a refused dial until the timeout: the other side dials us too, and may not have begun (PROTOCOL 2.5). */
  insist: boolean;
  signal: AbortSignal;
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Opens a TCP connection from a given port, on a pool thread.
 *
 * @returns  its descriptor, which the caller owns
 * @throws   PEER_UNREACHABLE with `errno`; `signal.reason` on abort
 */
export async function dialFrom(options: DialFromOptions): Promise<number> {
  const { fromPort, host, port, timeoutMs, insist, signal } = options;
  signal.throwIfAborted();
  if (isIP(host) === 0) throw misuse('host must be an IP address');
  assertInteger('fromPort', fromPort, 0, 65535);
  assertInteger('port', port, 1, 65535);
  assertInteger('timeoutMs', timeoutMs, 1, MAX_TIMEOUT_MS);
  assertBoolean('insist', insist);
  const dial = new (loadBinding<DialBinding>().Dial)(fromPort, host, port, timeoutMs, insist);
  const onAbort = () => dial.cancel();
  signal.addEventListener('abort', onAbort);
  try {
    return await dial.open();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
