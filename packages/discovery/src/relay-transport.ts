// SPDX-License-Identifier: MPL-2.0
import type { Socket } from 'node:net';
import { decodeRelayAnswer, encodeRelayHello, KeibiError } from '@keibidrop/protocol';
import { dialTcp } from './dial/dial-tcp.ts';
import { formatHostPort, type HostPort } from './host-port.ts';
import type { Dialler } from './transport.ts';

/** Limit for the relay's answer. The sender joins as soon as it has sent the token. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Dials a relay that the sender has named, shows the token, and returns the connection once the sender is joined to it. */
export function createRelayTransport(): Dialler {
  return {
    name: 'relay',
    async dial({ host, port, token = '' }, { signal }) {
      const relay = { host, port };
      const socket = await dialTcp(relay, { signal });
      try {
        socket.write(encodeRelayHello(Buffer.from(token, 'hex')));
        await joined(socket, relay, signal);
        return socket;
      } catch (reason) {
        socket.on('error', () => {});
        socket.destroy();
        throw reason;
      }
    },
  };
}

/** @throws PEER_UNREACHABLE with the reason why the relay did not join; `signal.reason` on abort */
function joined(socket: Socket, relay: HostPort, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      for (const event of ['readable', 'end', 'error']) socket.off(event, look);
      outcome();
    };
    const fail = (sentence: string, cause?: unknown) =>
      settle(() =>
        reject(new KeibiError('PEER_UNREACHABLE', `The relay ${formatHostPort(relay)} ${sentence}`, { cause })),
      );
    const onAbort = () => settle(() => reject(signal.reason));
    const look = (cause?: unknown) => {
      const byte: Buffer | null = socket.read(1);
      if (byte === null && !(cause instanceof Error) && !socket.readableEnded) return;
      const answer = byte === null ? undefined : decodeRelayAnswer(byte[0] as number);
      if (answer === 'joined') settle(resolve);
      else if (answer === 'no-room') fail('has no room.');
      else if (answer === 'nobody-came') fail('was not joined by the sender in time.');
      else fail('did not answer as a relay does.', cause);
    };
    const timer = setTimeout(
      () => fail(`has not joined the sender within ${ANSWER_TIMEOUT_MS} ms.`),
      ANSWER_TIMEOUT_MS,
    );
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort);
    for (const event of ['readable', 'end', 'error']) socket.on(event, look);
  });
}
