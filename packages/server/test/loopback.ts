// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { credentials } from '@grpc/grpc-js';
import { type JoinReply, type JoinRequest, Open_Role, RendezvousClient } from '@keibidrop/proto';
import { type RendezvousOptions, RendezvousServer } from '../src/index.ts';

/** A rendezvous behind a real listener on loopback. */
export async function serveOnLoopback(options?: RendezvousOptions) {
  const rendezvous = new RendezvousServer(options);
  const listener = createServer((socket) => rendezvous.attach(socket)).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const clients = new Set<RendezvousClient>();
  return {
    rendezvous,
    port,
    /** A raw call of the service on a separate connection. */
    call() {
      const client = new RendezvousClient(`ipv4:127.0.0.1:${port}`, credentials.createInsecure(), {
        'grpc.use_local_subchannel_pool': 1,
      });
      clients.add(client);
      return new RawCall(client.join());
    },
    async dial(): Promise<Socket> {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    },
    async close() {
      for (const client of clients) client.close();
      await rendezvous.close();
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** One call with its replies, in order, and its status. */
export class RawCall {
  readonly status: Promise<{ code: number; details: string }>;
  readonly #call: ReturnType<RendezvousClient['join']>;
  readonly #replies: AsyncIterator<JoinReply>;

  constructor(call: ReturnType<RendezvousClient['join']>) {
    this.#call = call;
    call.on('error', () => {});
    this.status = new Promise((resolve) => call.once('status', resolve));
    this.#replies = call.iterator({ destroyOnReturn: false });
  }

  open(
    mailbox: string,
    role: Open_Role = Open_Role.GUEST,
    owner: Uint8Array = new Uint8Array(),
    contact = false,
  ): void {
    this.write({ kind: { $case: 'open', value: { mailbox: Buffer.from(mailbox, 'hex'), role, owner, contact } } });
  }

  body(text: string, guest = 0): void {
    this.write({ kind: { $case: 'body', value: { guest, body: Buffer.from(text) } } });
  }

  write(request: JoinRequest): void {
    this.#call.write(request);
  }

  end(): void {
    this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  async next(): Promise<JoinReply['kind']> {
    const { value } = await this.#replies.next();
    return value?.kind;
  }
}
