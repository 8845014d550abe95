// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A path to a port that can be cut, and refuses connections until it is restored. */
export class CuttableWay {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  #broken = false;
  #spoilt: Socket | undefined;

  static async to(target: { host: string; port: number }): Promise<CuttableWay> {
    const way = new CuttableWay(target);
    await once(way.#server.listen(0, '127.0.0.1'), 'listening');
    return way;
  }

  private constructor(target: { host: string; port: number }) {
    this.#server = createServer({ noDelay: true }, (near) => {
      if (this.#broken) return void near.destroy();
      const far = connect({ ...target, noDelay: true });
      this.#sockets.push(near);
      near.pipe(far).on('data', (bytes: Buffer) => {
        if (this.#spoilt === near) bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1;
        near.write(bytes);
      });
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => {}).on('close', () => other.destroy());
      }
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The bytes that its connections have carried to the port. */
  get carried(): number {
    return this.#sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
  }

  cut(): void {
    this.#broken = true;
    for (const socket of this.#sockets.splice(0)) socket.resetAndDestroy();
  }

  /** Cuts the newest connection. */
  cutNewest(): void {
    this.#sockets.pop()?.resetAndDestroy();
  }

  /** Corrupts the bytes of the newest connection. */
  spoilNewest(): void {
    this.#spoilt = this.#sockets.at(-1);
  }

  mend(): void {
    this.#broken = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
