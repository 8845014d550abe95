// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import {
  type ChangeNotice,
  type InfoReply,
  type ListPage,
  type ListRequest,
  type ShareServer,
  ShareService,
  type WatchRequest,
} from '@keibidrop/proto';
import { type Code, checkSharePath, KeibiError, MAX_FETCH_PATHS } from '@keibidrop/protocol';
import { refusal, refusalOf, type ServedService } from '@keibidrop/session';
import { checkedLabel } from '@keibidrop/transfer';
import type { ChangeFeed } from './change-feed.ts';
import type { ShareHost } from './share-host.ts';
import type { WriteHandlers } from './write-handlers.ts';

/** Calls of one guest at one time. */
const MOST_LISTS = 8;
const MOST_WATCHES = 2;
const MOST_CALLS = 32;
const MOST_WRITES = 128;

export interface GuestServiceOptions {
  host: ShareHost;
  changes: ChangeFeed;
  writes: WriteHandlers;
  info: InfoReply;
  /** The guest has said who it is: it may do so more than once. */
  onGuest(label: string): void;
  /** Waits with these paths under a code of their own. @throws SHARE_*, PEER_BUSY */
  invite(paths: readonly string[]): Promise<Code>;
  signal: AbortSignal;
}

/** Serves Share to one guest (PROTOCOL 11). Everything in a request is checked, and what runs at one time is bounded: PEER_BUSY beyond. */
export function shareServiceFor(options: GuestServiceOptions): ServedService {
  const { host, changes, writes, info, signal } = options;
  const running = { lists: 0, watches: 0 };
  const calls = new CountedCalls(MOST_CALLS);
  const changing = new CountedCalls(MOST_WRITES);
  const handlers: ShareServer = {
    info: (call, reply) =>
      answer(reply, async () => {
        options.onGuest(checkedLabel(call.request.label));
        return info;
      }),
    stat: (call, reply) => calls.answer(call, reply, async ({ path }) => ({ entry: await host.look(path) })),
    space: (call, reply) => calls.answer(call, reply, () => host.space()),
    fetch: (call, reply) =>
      calls.answer(call, reply, async ({ paths }) => {
        if (paths.length > MAX_FETCH_PATHS) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED');
        return { code: (await options.invite(paths.map(checkSharePath))).text };
      }),
    list: (call: ServerWritableStream<ListRequest, ListPage>) => {
      const over = overWith(call, signal);
      return void streamed(call, 'lists', MOST_LISTS, () => host.list(call.request.path), over);
    },
    watch: (call: ServerWritableStream<WatchRequest, ChangeNotice>) => {
      const over = overWith(call, signal);
      return void streamed(call, 'watches', MOST_WATCHES, () => changes.follow({ signal: over }), over);
    },
    make: (call, reply) => changing.answer(call, reply, (request) => writes.make(request)),
    remove: (call, reply) => changing.answer(call, reply, (request) => writes.remove(request)),
    rename: (call, reply) => changing.answer(call, reply, (request) => writes.rename(request)),
    change: (call, reply) => changing.answer(call, reply, (request) => writes.change(request)),
    copy: (call, reply) => changing.answer(call, reply, (request) => writes.copy(request)),
    setAttribute: (call, reply) => changing.answer(call, reply, (request) => writes.setAttribute(request)),
    getAttribute: (call, reply) => changing.answer(call, reply, (request) => writes.getAttribute(request)),
    listAttributes: (call, reply) => changing.answer(call, reply, (request) => writes.listAttributes(request)),
    syncDirectory: (call, reply) => changing.answer(call, reply, (request) => writes.syncDirectory(request)),
    openWrite: (call, reply) => changing.answer(call, reply, (request) => writes.openWrite(request)),
    commit: (call, reply) => changing.answer(call, reply, (request) => writes.commit(request)),
    closeWrite: (call, reply) => changing.answer(call, reply, (request) => writes.closeWrite(request)),
  };
  return { definition: ShareService, handlers: handlers as unknown as ServedService['handlers'] };

  /** Passes messages on as fast as the guest takes them. */
  async function streamed<Message>(
    call: ServerWritableStream<unknown, Message>,
    kind: 'lists' | 'watches',
    most: number,
    messages: () => AsyncIterable<Message>,
    over: AbortSignal,
  ): Promise<void> {
    if (running[kind] === most) return refuse(call, new KeibiError('PEER_BUSY'));
    running[kind]++;
    try {
      for await (const message of messages()) {
        if (over.aborted) return;
        if (!call.write(message)) await once(call, 'drain', { signal: over });
      }
      call.end();
    } catch (reason) {
      if (!over.aborted) refuse(call, reason);
    } finally {
      running[kind]--;
    }
  }
}

/** Calls of one kind, so many at one time: PEER_BUSY beyond. */
class CountedCalls {
  readonly #most: number;
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  answer<Request, Reply>(
    { request }: ServerUnaryCall<Request, Reply>,
    reply: sendUnaryData<Reply>,
    work: (request: Request) => Promise<Reply>,
  ): void {
    if (this.#running === this.#most) {
      reply(refusal('PEER_BUSY'));
      return;
    }
    this.#running++;
    void answer(reply, () => work(request)).finally(() => this.#running--);
  }
}

async function answer<Reply>(reply: sendUnaryData<Reply>, work: () => Promise<Reply>): Promise<void> {
  try {
    reply(null, await work());
  } catch (reason) {
    reply(refusalOf(KeibiError.from(reason, 'INTERNAL')));
  }
}

/** Aborted when the guest has left the call, or the session ends. */
function overWith(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): AbortSignal {
  const left = new AbortController();
  call.on('cancelled', () => left.abort());
  call.on('error', () => left.abort());
  return AbortSignal.any([signal, left.signal]);
}

/** The status of a call that failed. grpc-js 1.14.7 sends one after an `error` event, and none after `destroy`. */
function refuse(call: ServerWritableStream<unknown, unknown>, reason: unknown): void {
  const { code } = KeibiError.from(reason, 'INTERNAL');
  call.emit('error', Object.assign(new Error(code), refusal(code)));
}
