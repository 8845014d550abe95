// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import {
  type AnswerBatch,
  type CallBatch,
  type NumberedAnswer,
  type NumberedCall,
  type ShareServer,
  ShareService,
} from '@keibidrop/proto';
import { encodePage, TOP } from '@keibidrop/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ShareGuest } from '../src/guest/share-guest.ts';
import type { ShareWrites } from '../src/guest/share-writes.ts';
import { ShareRoom } from './share-room.ts';

let room: ShareRoom;
beforeEach(async () => {
  room = await ShareRoom.open();
  await mkdir(room.path('folder'));
});
afterEach(() => room.close());

const stat = (number: number, path: string): NumberedCall => ({
  number,
  method: 'Stat',
  request: ShareService.stat.requestSerialize({ path }),
});

describe('calls in batches', () => {
  async function openCalls(): Promise<ClientDuplexStream<CallBatch, AnswerBatch>> {
    await room.share('folder');
    const { client } = await room.hostileGuest();
    return client.calls();
  }

  async function answersTo(calls: NumberedCall[]): Promise<NumberedAnswer[]> {
    const stream = await openCalls();
    stream.end({ calls, givenUp: false });
    const answers: NumberedAnswer[] = [];
    for await (const batch of stream as AsyncIterable<AnswerBatch>) answers.push(...batch.answers);
    return answers.toSorted((a, b) => a.number - b.number);
  }

  it('are answered each by its number, including failed ones', async () => {
    await writeFile(room.path('folder', 'file'), 'x');
    const garbage = { number: 8, method: 'Stat', request: Buffer.alloc(9, 0xff) };
    const answers = await answersTo([stat(7, 'file'), garbage, stat(9, '../x'), stat(10, 'nothing')]);
    expect(answers.map(({ number, failure }) => [number, failure])).toEqual([
      [7, undefined],
      [8, 'HANDSHAKE_MALFORMED'],
      [9, 'SHARE_PATH_REFUSED'],
      [10, 'SHARE_NOT_FOUND'],
    ]);
    expect(ShareService.stat.responseDeserialize(Buffer.from(answers[0]?.reply ?? [])).entry.length).toBeGreaterThan(
      25,
    );
  });

  it('are refused beyond the limit of concurrent calls', async () => {
    const answers = await answersTo(Array.from({ length: 100 }, (_, i) => stat(i, '')));
    expect(answers.filter(({ failure }) => failure === undefined)).toHaveLength(32);
    expect(answers.filter(({ failure }) => failure === 'PEER_BUSY')).toHaveLength(68);
  });

  it.each<[string, NumberedCall[]]>([
    ['of a method that there is not', [{ ...stat(1, ''), method: 'Fetch' }]],
    ['of which there are too many', Array.from({ length: 257 }, (_, i) => stat(i, ''))],
  ])('end with one %s', async (_what, calls) => {
    const stream = await openCalls();
    stream.on('data', () => {});
    stream.write({ calls, givenUp: false });
    expect(await once(stream, 'error')).toMatchObject([{ details: 'HANDSHAKE_MALFORMED' }]);
  });
});

describe('a host that answers batches arbitrarily', () => {
  const answering =
    (answer: (call: NumberedCall) => NumberedAnswer[]): ShareServer['calls'] =>
    (call) =>
      void call.on('data', ({ calls }: CallBatch) => call.write({ answers: calls.flatMap(answer) }));
  const entry = (name: string) => {
    const page = encodePage([{ type: 'file', mode: 0o644, parent: TOP, mtimeNs: 0n, size: 1, name }]);
    return ShareService.stat.responseSerialize({ entry: page });
  };
  const good = ({ number }: NumberedCall) => ({ number, failure: undefined, reply: entry('a') });

  async function connect(calls: ShareServer['calls']): Promise<ShareGuest> {
    await room.hostileHost({ calls }, { batches: true });
    return room.connect();
  }

  it('is trusted only about the calls that were made', async () => {
    const guest = await connect(
      answering((call) => [good({ ...call, number: call.number + 1 }), good(call), good(call)]),
    );
    expect(await guest.stat('a', room)).toMatchObject({ name: 'a' });
    expect(await Promise.all([guest.stat('a', room), guest.stat('a', room)])).toHaveLength(2);
  });

  it.each<[string, ShareServer['calls']]>([
    ['another entry', answering((call) => [{ ...good(call), reply: entry('b') }])],
    ['nonsense', answering((call) => [{ ...good(call), reply: Buffer.alloc(9, 0xff) }])],
    ['an invalid failure', answering((call) => [{ ...good(call), failure: 'oh' }])],
    ['the end of its answers', (call) => call.end()],
  ])('is refused for %s', async (_what, calls) => {
    const guest = await connect(calls);
    await expect(guest.stat('a', room)).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
  });
});

describe('a guest’s own change', () => {
  let guest: ShareGuest;
  let writes: ShareWrites;
  let noticed: string[];
  let lasts = 0;

  beforeEach(async () => {
    await room.share('folder');
    guest = await room.connect();
    writes = guest.writes() as ShareWrites;
    noticed = [];
    const notices = guest.watch({ signal: room.signal, withoutOwn: true });
    await notices.next();
    void (async () => {
      for await (const { changes } of notices) noticed.push(...changes.map(({ kind, path }) => `${kind} ${path}`));
    })().catch(() => {});
  });

  /** The reports until the next change by another peer. */
  async function toldSoFar(): Promise<string[]> {
    const last = `last-${++lasts}`;
    await writeFile(room.path('folder', last), '');
    await expect.poll(() => noticed.includes(`created ${last}`)).toBe(true);
    return noticed.splice(0).filter((one) => !one.includes('last-'));
  }

  it('is not reported to it, until another peer has changed the file', async () => {
    await writes.create('mine', { signal: room.signal, mode: 0o600 });
    await writes.change('mine', { signal: room.signal, mode: 0o640 });
    expect(await toldSoFar()).toEqual([]);
    await appendFile(room.path('folder', 'mine'), 'x');
    expect(await toldSoFar()).toEqual(['changed mine']);
    await writeFile(room.path('folder', 'mine'), '');
    expect(await toldSoFar()).toEqual(['changed mine']);
  });

  it('is reported for directories and for removed files', async () => {
    await writes.makeDirectory('made', { signal: room.signal, mode: 0o700 });
    expect(await toldSoFar()).toEqual(['created made']);
    await writes.create('mine', { signal: room.signal, mode: 0o600 });
    expect(await toldSoFar()).toEqual([]);
    await writes.remove('mine', { signal: room.signal, directory: false });
    expect(await toldSoFar()).toEqual(['removed mine']);
  });

  it('is reported if it has not waited for the answer', async () => {
    await writes.create('heard', { signal: room.signal, mode: 0o600 });
    const impatient = new AbortController();
    const making = writes.create('unheard', { signal: impatient.signal, mode: 0o600 });
    // The call is sent already, but not answered.
    await new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));
    impatient.abort(new Error('enough'));
    await expect(making).rejects.toThrow('enough');
    expect(await toldSoFar()).toEqual(expect.arrayContaining(['created unheard']));
  });

  it('is reported to its other watches, and to other guests', async () => {
    const other = (await room.connect()).watch({ signal: room.signal, withoutOwn: true });
    const whole = guest.watch({ signal: room.signal });
    await Promise.all([other.next(), whole.next()]);
    await sleep(150);
    await writes.create('mine', { signal: room.signal, mode: 0o600 });
    const expected = { value: { changes: [{ kind: 'created', path: 'mine' }] } };
    expect(await other.next()).toMatchObject(expected);
    expect(await whole.next()).toMatchObject(expected);
  });
});
