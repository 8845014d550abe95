// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** One address that leads to several servers in turn, like a name with several addresses or a load balancer. */
export class OneName {
  readonly #server: Server;
  readonly #ports: readonly number[];
  readonly #sockets = new Set<Socket>();
  #next = 0;

  static async open(...ports: number[]): Promise<OneName> {
    const name = new OneName(ports);
    name.#server.listen(0, '127.0.0.1');
    await once(name.#server, 'listening');
    return name;
  }

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.#server = createServer((socket) => this.#pass(socket, this.#ports.length));
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Forwards a connection to the next server, or to one after it if that one does not answer. */
  #pass(socket: Socket, tries: number): void {
    this.#sockets.add(socket.on('error', () => {}));
    const port = this.#ports[this.#next++ % this.#ports.length] as number;
    const server = connect(port, '127.0.0.1');
    this.#sockets.add(server);
    server.once('error', () => {
      if (tries > 1) this.#pass(socket, tries - 1);
      else socket.destroy();
    });
    server.once('connect', () => {
      server.removeAllListeners('error').on('error', () => socket.destroy());
      socket.once('close', () => server.destroy());
      server.once('close', () => socket.destroy());
      socket.pipe(server).pipe(socket);
    });
  }
}
