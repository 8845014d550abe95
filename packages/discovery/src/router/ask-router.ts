// SPDX-License-Identifier: MPL-2.0
import { createSocket, type Socket } from 'node:dgram';
import { KeibiError } from '@keibidrop/protocol';
import type { MappedPort } from './port-control.ts';
import {
  decodePcpMap,
  decodePmpAddress,
  decodePmpMap,
  encodePcpMap,
  encodePmpAddress,
  encodePmpMap,
  PORT_CONTROL_PORT,
  type PortRequest,
} from './port-control.ts';

/** Wait before the first retry, doubled for each further one; after ASKED requests the router is given up. */
const FIRST_WAIT_MS = 250;
const ASKED = 3;

/**
 * Asks a router for a port by PCP, or by NAT-PMP if it does not support PCP.
 *
 * @param nonce  12 bytes, the same for as long as the port is wanted
 * @throws       PEER_UNREACHABLE if the router does not answer or refuses; `signal.reason` on abort
 */
export async function askRouter(
  gateway: string,
  request: PortRequest,
  { nonce, signal }: { nonce: Uint8Array; signal: AbortSignal },
): Promise<MappedPort> {
  const router = await Router.open(gateway, signal);
  try {
    const { port } = request;
    const pcp = await router.ask(encodePcpMap(request, router.own, nonce), (answer) =>
      decodePcpMap(answer, port, nonce),
    );
    if (pcp !== 'older') return { by: 'PCP', host: pcp.host, port: pcp.outside, lifetimeSeconds: pcp.lifetimeSeconds };
    const { outside, lifetimeSeconds } = await router.ask(encodePmpMap(request), (answer) =>
      decodePmpMap(answer, port),
    );
    const host = await router.ask(encodePmpAddress(), decodePmpAddress);
    return { by: 'NAT-PMP', host, port: outside, lifetimeSeconds };
  } finally {
    router.close();
  }
}

/** Gives a port back without waiting for an answer: the mapping expires by itself. */
export async function notifyRouter(
  gateway: string,
  request: PortRequest,
  by: string,
  nonce: Uint8Array,
): Promise<void> {
  const router = await Router.open(gateway, new AbortController().signal);
  await router.send(by === 'PCP' ? encodePcpMap(request, router.own, nonce) : encodePmpMap(request));
  router.close();
}

/** A UDP socket connected to one router; it ignores packets from others. */
class Router {
  readonly #socket: Socket;
  readonly #gateway: string;
  readonly #signal: AbortSignal;

  static async open(gateway: string, signal: AbortSignal): Promise<Router> {
    signal.throwIfAborted();
    const socket = createSocket('udp4').unref();
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.connect(PORT_CONTROL_PORT, gateway, () => resolve());
    });
    // A router without either protocol may send an ICMP error. The timeout reports it anyway.
    socket.removeAllListeners('error').on('error', () => {});
    return new Router(socket, gateway, signal);
  }

  private constructor(socket: Socket, gateway: string, signal: AbortSignal) {
    this.#socket = socket;
    this.#gateway = gateway;
    this.#signal = signal;
  }

  get own(): string {
    return this.#socket.address().address;
  }

  send(request: Buffer): Promise<void> {
    return new Promise((resolve) => this.#socket.send(request, () => resolve()));
  }

  ask<T>(request: Buffer, read: (answer: Buffer) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        clearTimeout(timer);
        this.#signal.removeEventListener('abort', onAbort);
        this.#socket.off('message', onMessage);
        how();
      };
      const onAbort = () => settle(() => reject(this.#signal.reason));
      const onMessage = (answer: Buffer) => {
        try {
          const found = read(answer);
          if (found !== undefined) settle(() => resolve(found));
        } catch (reason) {
          settle(() => reject(reason));
        }
      };
      let asked = 0;
      const again = () => {
        if (asked === ASKED) return settle(() => reject(silent(this.#gateway)));
        timer = setTimeout(again, FIRST_WAIT_MS * 2 ** asked++).unref();
        void this.send(request);
      };
      let timer: NodeJS.Timeout | undefined;
      if (this.#signal.aborted) return onAbort();
      this.#signal.addEventListener('abort', onAbort);
      this.#socket.on('message', onMessage);
      again();
    });
  }

  close(): void {
    this.#socket.close();
  }
}

function silent(gateway: string): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', `The router ${gateway} does not map ports by PCP or NAT-PMP.`);
}
