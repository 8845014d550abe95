// SPDX-License-Identifier: MPL-2.0
import { connect } from 'node:net';
import { NetworkCount, networkOf } from './network.ts';

/** A firewall that drops packets gives no answer; TCP retransmits a lost packet after one second. */
const DIAL_BACK_MS = 1500;
/** Lower ports belong to the system; peers do not listen there. */
const FIRST_PORT = 1024;

/** Dials back peers that ask whether others can reach them: only the asking address, and one port of a network at a time. */
export class DialBack {
  readonly #running = new NetworkCount();

  /** @returns  whether a listener answers on that port; undefined if the port is not allowed or the network already has a dial running */
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
