// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** How bodies of a guest begin in the rendezvous' messages: field 2, their length, their kind, version 1 (PROTOCOL 2.2). */
const BODIES = { HELLO: Buffer.of(0x12, 50, 1, 1), RETURN: Buffer.of(0x12, 34, 7, 1) } as const;
const PREAMBLE = 'PRI * HT';

/** A path to a sharer's port, which may change. Counts how often guests have met there by the code, and by a secret. */
export class MailboxTap {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #meetings: Buffer[][] = [];
  /** The sharer's current port. */
  port = 0;

  static async open(): Promise<MailboxTap> {
    const tap = new MailboxTap();
    await once(tap.#server.listen(0, '127.0.0.1'), 'listening');
    return tap;
  }

  private constructor() {
    this.#server = createServer({ noDelay: true }, (near) => {
      const far = connect({ host: '127.0.0.1', port: this.port, noDelay: true });
      const said: Buffer[] = [];
      this.#meetings.push(said);
      near.on('data', (bytes: Buffer) => {
        const first = said[0] ?? bytes;
        if (first.subarray(0, PREAMBLE.length).toString('latin1') === PREAMBLE) said.push(bytes);
      });
      near.pipe(far).pipe(near);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        one.on('error', () => {}).on('close', () => other.destroy());
      }
    });
  }

  get place(): { host: string; port: number } {
    return { host: '127.0.0.1', port: (this.#server.address() as AddressInfo).port };
  }

  /** The number of meetings that guests began with this body. */
  count(kind: keyof typeof BODIES): number {
    return this.#meetings.filter((said) => Buffer.concat(said).includes(BODIES[kind])).length;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
