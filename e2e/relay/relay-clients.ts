// SPDX-License-Identifier: MPL-2.0
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { JoinRequest, Open_Role, RendezvousService } from '../../proto/index.ts';

/** How many clients of one network a relay accepts; more use other addresses of this machine. */
const CLIENTS_OF_A_NETWORK = 50;
/** How many are dialled in parallel. */
const AT_ONCE = 100;

/** A raw connection to a relay. */
export class RelayConnection {
  readonly socket: Socket;
  readonly #arrived: Buffer[] = [];
  readonly #ended: Promise<void>;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    this.#ended = new Promise((resolve) => socket.once('end', resolve).once('close', () => resolve()));
  }

  /** Resolves when the relay has closed the connection in any way. */
  async closed(): Promise<void> {
    this.socket.resume();
    await this.#ended;
  }

  /** The relay's one-byte answer; undefined if it hung up. */
  async answer(): Promise<number | undefined> {
    for (;;) {
      const byte: Buffer | null = this.socket.read(1);
      if (byte !== null) return byte[0];
      if (this.socket.readableEnded || this.socket.destroyed) return undefined;
      await Promise.race([once(this.socket, 'readable'), this.#ended]);
    }
  }

  /** Reads everything up to the end. */
  async rest(): Promise<Buffer> {
    this.socket.on('data', (bytes) => this.#arrived.push(bytes));
    await this.#ended;
    return Buffer.concat(this.#arrived);
  }
}

/** Clients that connect to the relay at `port` of 127.0.0.1, each from one of many loopback addresses. */
export class RelayClients {
  readonly port: number;
  readonly #sockets = new Set<Socket>();
  #dialled = 0;

  constructor(port: number) {
    this.port = port;
  }

  /** A socket that is connecting. */
  connect(): Socket {
    const network = 1 + Math.floor(this.#dialled++ / CLIENTS_OF_A_NETWORK);
    const socket = connect({
      host: '127.0.0.1',
      port: this.port,
      // Each of them is in a different /24.
      localAddress: `127.1.${network}.1`,
      allowHalfOpen: true,
    });
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  async dial(bytes: string | Uint8Array): Promise<RelayConnection> {
    const connection = new RelayConnection(this.connect());
    await once(connection.socket, 'connect');
    if (typeof bytes === 'string') connection.socket.write(bytes, 'latin1');
    else connection.socket.write(bytes);
    return connection;
  }

  /** Sends token number `index`. */
  show(index: number): Promise<RelayConnection> {
    const token = createHash('sha256').update(`token ${index}`).digest();
    return this.dial(Buffer.concat([Buffer.from('KEIBI-R1'), token]));
  }

  /** Two connections that the relay has joined. */
  async pair(index: number): Promise<[RelayConnection, RelayConnection]> {
    const pair: [RelayConnection, RelayConnection] = [await this.show(index), await this.show(index)];
    for (const connection of pair) {
      const answer = await connection.answer();
      if (answer !== 1) throw new Error(`the relay answered ${answer}`);
    }
    return pair;
  }

  /** Calls `make(0)`, `make(1)`, … with limited parallelism. */
  async many<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
    const made: T[] = [];
    for (let first = 0; first < count; first += AT_ONCE) {
      const length = Math.min(AT_ONCE, count - first);
      made.push(...(await Promise.all(Array.from({ length }, (_, offset) => make(first + offset)))));
    }
    return made;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Opens a mailbox over a new connection and keeps it open. */
export async function holdMailbox(clients: RelayClients, index: number): Promise<void> {
  const session = connectHttp2('http://relay', { createConnection: () => clients.connect() });
  session.on('error', () => {});
  const call = session.request({
    ':method': 'POST',
    ':path': RendezvousService.join.path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  call.on('error', () => {});
  const mailbox = createHash('sha256').update(`mailbox ${index}`).digest();
  const value = { mailbox, role: Open_Role.OWNER, owner: new Uint8Array(), contact: false };
  const open = JoinRequest.encode({ kind: { $case: 'open', value } }).finish();
  const length = Buffer.alloc(5);
  length.writeUInt32BE(open.length, 1);
  call.write(Buffer.concat([length, open]));
  await once(call, 'data');
}
