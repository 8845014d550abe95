// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';
import {
  type AnswerBatch,
  type CallBatch,
  type ChangeNotice,
  type InfoReply,
  type ListPage,
  type ListRequest,
  type ShareServer,
  ShareService,
  type WatchRequest,
} from '@keibidrop/proto';
import { ATTEMPT_BYTES, type Code, checkSharePath, KeibiError, MAX_FETCH_PATHS } from '@keibidrop/protocol';
import { refusal, type ServedService } from '@keibidrop/session';
import { checkedLabel } from '@keibidrop/transfer';
import { answer, CountedCalls } from '../counted-calls.ts';
import { answerBatches } from './batched-answers.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { OwnChanges } from './own-changes.ts';
import type { ShareFolder } from './share-folder.ts';
import type { WriteHandlers } from './write-handlers.ts';

/** Concurrent calls of one guest. */
const MOST_LISTS = 8;
const MOST_WATCHES = 2;
const MOST_BATCHES = 2;
const MOST_CALLS = 32;
const MOST_WRITES = 128;

export interface GuestServiceOptions {
  folder: ShareFolder;
  changes: ChangeFeed;
  /** The changes made by `writes`. */
  own: OwnChanges;
  writes: WriteHandlers;
  info: InfoReply;
  /** The guest has introduced itself; it may do so again. */
  onGuest(label: string): void;
  /** Keeps the session's guest secret beside the one whose attempt is `held`. @returns  whether it is kept */
  remember(held: Uint8Array): Promise<boolean>;
  /** Waits with these paths under a code of their own. @throws SHARE_*, PEER_BUSY */
  invite(paths: readonly string[]): Promise<Code>;
  signal: AbortSignal;
}

/** Serves Share to one guest (PROTOCOL 11). Everything in a request is checked, and what runs at one time is bounded: PEER_BUSY beyond. */
export function shareServiceFor(options: GuestServiceOptions): ServedService {
  const { folder, changes, own, writes, info, signal } = options;
  const running = { lists: 0, watches: 0, batches: 0 };
  const calls = new CountedCalls(MOST_CALLS);
  const counted = { ...lookingCalls(folder, calls), ...changingCalls(writes) };
  const batched = Object.values(counted).map((call) => call.batched);
  const handlers: ShareServer = {
    ...unaryOf(counted),
    info: (call, reply) =>
      answer(reply, async () => {
        const { label, remember } = call.request;
        options.onGuest(checkedLabel(label));
        return { ...info, remembers: remember !== undefined && (await options.remember(checkedAttempt(remember))) };
      }),
    fetch: (call, reply) =>
      answer(reply, () =>
        calls.run(async () => {
          const { paths } = call.request;
          if (paths.length > MAX_FETCH_PATHS) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED');
          return { code: (await options.invite(paths.map(checkSharePath))).text };
        }),
      ),
    list: (call: ServerWritableStream<ListRequest, ListPage>) => {
      const over = overWith(call, signal);
      return void streamed(call, 'lists', MOST_LISTS, () => folder.list(call.request.path), over);
    },
    watch: (call: ServerWritableStream<WatchRequest, ChangeNotice>) => {
      const over = overWith(call, signal);
      const notices = () => changes.follow({ signal: over });
      const announced = call.request.withoutOwn ? () => own.leftOut(notices()) : notices;
      return void streamed(call, 'watches', MOST_WATCHES, announced, over);
    },
    calls: (call: ServerDuplexStream<CallBatch, AnswerBatch>) => {
      const over = overWith(call, signal);
      return void bounded(call, 'batches', MOST_BATCHES, over, () =>
        answerBatches(call, batched, { signal: over, onGivenUp: () => own.forget() }),
      );
    },
  };
  return { definition: ShareService, handlers: handlers as unknown as ServedService['handlers'] };

  /** Passes messages on as fast as the guest takes them. */
  function streamed<Message>(
    call: ServerWritableStream<unknown, Message>,
    kind: 'lists' | 'watches',
    most: number,
    messages: () => AsyncIterable<Message>,
    over: AbortSignal,
  ): Promise<void> {
    return bounded(call, kind, most, over, async () => {
      for await (const message of messages()) {
        if (over.aborted) return;
        if (!call.write(message)) await once(call, 'drain', { signal: over });
      }
      call.end();
    });
  }

  async function bounded(
    call: ServerStream,
    kind: keyof typeof running,
    most: number,
    over: AbortSignal,
    work: () => Promise<void>,
  ): Promise<void> {
    if (running[kind] === most) return refuse(call, new KeibiError('PEER_BUSY'));
    running[kind]++;
    try {
      await work();
    } catch (reason) {
      if (!over.aborted) refuse(call, reason);
    } finally {
      running[kind]--;
    }
  }
}

interface ServerStream {
  on(event: 'cancelled' | 'error', listener: () => void): unknown;
  emit(event: 'error', failure: Error): boolean;
}

function lookingCalls(folder: ShareFolder, calls: CountedCalls) {
  return {
    stat: calls.serve(ShareService.stat, async ({ path }) => ({ entry: await folder.look(path) })),
    space: calls.serve(ShareService.space, () => folder.space()),
  };
}

function changingCalls(writes: WriteHandlers) {
  const calls = new CountedCalls(MOST_WRITES);
  return {
    make: calls.serve(ShareService.make, (request) => writes.make(request)),
    remove: calls.serve(ShareService.remove, (request) => writes.remove(request)),
    rename: calls.serve(ShareService.rename, (request) => writes.rename(request)),
    change: calls.serve(ShareService.change, (request) => writes.change(request)),
    copy: calls.serve(ShareService.copy, (request) => writes.copy(request)),
    setAttribute: calls.serve(ShareService.setAttribute, (request) => writes.setAttribute(request)),
    getAttribute: calls.serve(ShareService.getAttribute, (request) => writes.getAttribute(request)),
    listAttributes: calls.serve(ShareService.listAttributes, (request) => writes.listAttributes(request)),
    syncDirectory: calls.serve(ShareService.syncDirectory, (request) => writes.syncDirectory(request)),
    openWrite: calls.serve(ShareService.openWrite, (request) => writes.openWrite(request)),
    commit: calls.serve(ShareService.commit, (request) => writes.commit(request)),
    closeWrite: calls.serve(ShareService.closeWrite, (request) => writes.closeWrite(request)),
    lock: calls.serve(ShareService.lock, (request) => writes.lock(request)),
    unlock: calls.serve(ShareService.unlock, (request) => writes.unlock(request)),
    testLock: calls.serve(ShareService.testLock, (request) => writes.testLock(request)),
  };
}

function unaryOf<Calls extends Record<string, { unary: unknown }>>(
  calls: Calls,
): { [Name in keyof Calls]: Calls[Name]['unary'] } {
  const handlers = Object.entries(calls).map(([name, { unary }]) => [name, unary]);
  return Object.fromEntries(handlers);
}

/** Aborted when the guest leaves the call, or the session ends. */
function overWith(call: ServerStream, signal: AbortSignal): AbortSignal {
  const left = new AbortController();
  call.on('cancelled', () => left.abort());
  call.on('error', () => left.abort());
  return AbortSignal.any([signal, left.signal]);
}

/** The status of a call that failed. grpc-js 1.14.7 sends one after an `error` event, and none after `destroy`. */
function refuse(call: ServerStream, reason: unknown): void {
  const { code } = KeibiError.from(reason, 'INTERNAL');
  call.emit('error', Object.assign(new Error(code), refusal(code)));
}

/** The attempt of the secret that a guest holds. @throws HANDSHAKE_MALFORMED */
function checkedAttempt(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== 0 && bytes.length !== ATTEMPT_BYTES) throw new KeibiError('HANDSHAKE_MALFORMED');
  return bytes;
}
