// SPDX-License-Identifier: MPL-2.0
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Candidate } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Transport } from '../src/index.ts';

/** A transport under test, with a sender that it can find. */
export interface TransportUnderTest {
  transport: Transport;
  /** The mailbox of the sender at `listener`. */
  mailbox: string;
  close(): Promise<void>;
}

/** The contract of every Transport, tested on real sockets of this machine. `create` gets the port of the sender's listener. */
export function transportContract(name: string, create: (port: number) => Promise<TransportUnderTest>): void {
  describe(`the ${name} transport`, () => {
    let listener: Server;
    let port: number;
    let subject: TransportUnderTest;
    const accepted: Socket[] = [];

    beforeEach(async () => {
      listener = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
      await once(listener, 'listening');
      port = (listener.address() as AddressInfo).port;
      subject = await create(port);
    });
    afterEach(async () => {
      await subject.close();
      for (const socket of accepted.splice(0)) socket.destroy();
      listener.close();
    });

    async function findAll(signal: AbortSignal): Promise<Candidate[]> {
      const found: Candidate[] = [];
      for await (const candidate of subject.transport.find(subject.mailbox, { signal })) found.push(candidate);
      return found;
    }
    async function findFirst(): Promise<Candidate> {
      const [candidate] = await findAll(new AbortController().signal);
      if (candidate === undefined) throw new Error('the transport found nothing');
      return candidate;
    }

    it('finds the sender and names itself in the candidate', async () => {
      const candidate = await findFirst();
      expect(candidate).toMatchObject({ transport: subject.transport.name, port });
    });

    it('dials the candidate it found, and bytes arrive both ways', async () => {
      const connection = once(listener, 'connection') as Promise<[Socket]>;
      const dialled = await subject.transport.dial(await findFirst(), { signal: new AbortController().signal });
      const [peer] = await connection;
      peer.end('from the sender');
      expect(String((await once(dialled, 'data'))[0])).toBe('from the sender');
      dialled.end('from the receiver');
      expect(String((await once(peer, 'data'))[0])).toBe('from the receiver');
    });

    it('leaves no listener on the signal, whose later abort does not end the connection', async () => {
      const controller = new AbortController();
      await findAll(controller.signal);
      const dialled = await subject.transport.dial(await findFirst(), { signal: controller.signal });
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
      controller.abort();
      expect(dialled.destroyed).toBe(false);
      expect(dialled.eventNames().filter((event) => event === 'error' || event === 'timeout')).toEqual([]);
      dialled.destroy();
    });

    it('rejects with the reason of the abort, for both find and dial', async () => {
      const reason = new Error('enough');
      const signal = AbortSignal.abort(reason);
      await expect(findAll(signal)).rejects.toBe(reason);
      await expect(subject.transport.dial(await findFirst(), { signal })).rejects.toBe(reason);
      const controller = new AbortController();
      const dialling = subject.transport.dial(await findFirst(), { signal: controller.signal });
      controller.abort(reason);
      await expect(dialling).rejects.toBe(reason);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    });

    it('fails with PEER_UNREACHABLE and the cause when the listener is closed', async () => {
      const candidate = await findFirst();
      listener.close();
      await once(listener, 'close');
      const controller = new AbortController();
      await expect(subject.transport.dial(candidate, { signal: controller.signal })).rejects.toMatchObject({
        code: 'PEER_UNREACHABLE',
        cause: { code: 'ECONNREFUSED' },
      });
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    });
  });
}
