// SPDX-License-Identifier: MPL-2.0
import { connect } from 'node:net';
import { NetworkCount, networkOf } from './network.ts';

/** A packet that a firewall drops is not answered at all; one that was lost is sent again after a second. */
const DIAL_BACK_MS = 1500;
/** Ports below are a system's own: nobody listens there for peers. */
const FIRST_PORT = 1024;

/** Dials peers back who want to know whether others can reach them. Only ever the address that asks, one port of a network at a time. */
export class DialBack {
  readonly #running = new NetworkCount();

  /** @returns  whether something listens there that we reach; undefined if that is no port to ask about, or one is asked about already */
  async reaches(host: string, port: number): Promise<boolean | undefined> {
    const network = networkOf(host);
    if (!Number.isInteger(port) || port < FIRST_PORT || port > 65535) return undefined;
    if (!this.#running.hasRoom(network, 1)) return undefined;
    this.#running.add(network);
    try {
      return await answers(host, port);
    } finally {
      this.#running.remove(network);
    }
  }
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: DIAL_BACK_MS });
    const settle = (reached: boolean) => {
      socket.destroy();
      resolve(reached);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}
