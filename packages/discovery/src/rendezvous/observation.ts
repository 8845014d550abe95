// SPDX-License-Identifier: MPL-2.0
import { get, type IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { dialFromPort } from '../dial/dial-from-port.ts';
import { rendezvousUnreachable } from '../dial/dial-rendezvous.ts';
import { tlsOver } from '../dial/dial-tls.ts';
import { formatHostPort, type HostPort } from '../host-port.ts';

/** One of our ports as a server sees it from outside. */
export interface Observation {
  /** Numeric. */
  readonly host: string;
  readonly port: number;
  /** The port on this machine. */
  readonly fromPort: number;
}

/** An observation with our clock's lead over the server's. It is exact to a second plus the time of the answer; undefined if no time was sent. */
export interface ObservedWithClock extends Observation {
  readonly aheadMs: number | undefined;
}

const ANSWER_TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 1024;

/** A server's report of our connection; undefined if the reported address cannot be dialled. */
export function observationOf(seen: { host: string; port: number }, connection: Socket): Observation | undefined {
  const { localPort: fromPort } = connection;
  if (fromPort === undefined || isIP(seen.host) === 0 || !isPort(seen.port)) return undefined;
  return { host: seen.host, port: seen.port, fromPort };
}

/**
 * Asks a server how it sees one of our ports (`GET /observed`, PROTOCOL 2.5).
 *
 * @param options.fromPort  0: chosen by the system; the result can be dialled from afterwards
 * @throws                  RENDEZVOUS_UNREACHABLE; `signal.reason` on abort
 */
export async function observePort(
  server: HostPort,
  { fromPort, signal }: { fromPort: number; signal: AbortSignal },
): Promise<ObservedWithClock> {
  const { seen, serverTime, localPort } = await ask(server, '/observed', { fromPort, signal });
  if (!isEndpoint(seen) || localPort === undefined) throw rendezvousUnreachable(server);
  const aheadMs = serverTime === undefined ? undefined : Date.now() - serverTime;
  return { host: seen.host, port: seen.port, fromPort: localPort, aheadMs };
}

/**
 * Asks a server whether it can reach our listener on `port`; the server dials back the address at which it sees us.
 *
 * @throws  RENDEZVOUS_UNREACHABLE, also if the server refuses to try; `signal.reason` on abort
 */
export async function isReached(
  server: HostPort,
  { port, signal }: { port: number; signal: AbortSignal },
): Promise<boolean> {
  const { seen } = await ask(server, `/reached?port=${port}`, { fromPort: 0, signal });
  const reached = typeof seen === 'object' && seen !== null && 'reached' in seen ? seen.reached : undefined;
  if (typeof reached !== 'boolean') throw rendezvousUnreachable(server);
  return reached;
}

async function ask(server: HostPort, path: string, { fromPort, signal }: { fromPort: number; signal: AbortSignal }) {
  try {
    const connection = await dialFromPort(server, { fromPort, timeoutMs: ANSWER_TIMEOUT_MS, signal });
    const { localPort } = connection;
    const asked = server.tls ? await tlsOver(connection, server, signal) : connection;
    const { text, serverTime } = await answerOver(asked, server, { path, signal });
    const seen: unknown = JSON.parse(text);
    return { seen, serverTime, localPort };
  } catch (cause) {
    signal.throwIfAborted();
    throw rendezvousUnreachable(server, cause);
  }
}

function answerOver(
  connection: Socket,
  server: HostPort,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<{ text: string; serverTime: number | undefined }> {
  return new Promise((resolve, reject) => {
    const request = get({
      path,
      headers: { host: formatHostPort(server), connection: 'close' },
      createConnection: () => connection,
      timeout: ANSWER_TIMEOUT_MS,
      signal,
    });
    const fail = (reason: Error) => {
      connection.destroy();
      reject(reason);
    };
    request.once('error', fail).once('timeout', () => request.destroy(new Error('no answer')));
    request.once('response', (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8').once('error', fail);
      response.on('data', (part: string) => {
        text += part;
        if (text.length > MAX_ANSWER_BYTES) request.destroy(new Error('the answer is too long'));
      });
      const time = Date.parse(response.headers.date ?? '');
      const serverTime = Number.isNaN(time) ? undefined : time;
      response.once('end', () => resolve({ text: response.statusCode === 200 ? text : '', serverTime }));
    });
  });
}

function isEndpoint(value: unknown): value is { host: string; port: number } {
  if (typeof value !== 'object' || value === null || !('host' in value) || !('port' in value)) return false;
  return typeof value.host === 'string' && isIP(value.host) !== 0 && isPort(value.port);
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65535;
}
