// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import net from 'node:net';

/** Pairs of connected TCP sockets on loopback, for tests. */
export class TcpPairs {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #waiting = new Map<number, (socket: net.Socket) => void>();

  private constructor(server: net.Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#keep(socket);
      this.#waiting.get(socket.remotePort ?? 0)?.(socket);
    });
  }

  static async listen(): Promise<TcpPairs> {
    const server = net.createServer({ noDelay: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpPairs(server);
  }

  /** The two ends of one connection: the dialling end, then the other. */
  async open(): Promise<[net.Socket, net.Socket]> {
    const { port } = this.#server.address() as net.AddressInfo;
    // Bound before it connects, so that this port identifies the other end.
    const dialled = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.#keep(dialled);
    await once(dialled, 'connect');
    const accepted = await new Promise<net.Socket>((resolve) => {
      const localPort = dialled.localPort as number;
      const early = [...this.#sockets].find((socket) => socket !== dialled && socket.remotePort === localPort);
      if (early === undefined) this.#waiting.set(localPort, resolve);
      else resolve(early);
    });
    this.#waiting.delete(dialled.localPort as number);
    return [dialled, accepted];
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #keep(socket: net.Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}
