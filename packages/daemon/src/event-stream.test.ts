// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { EventStream, type Happened } from './event-stream.ts';

const ALL = { progress: true, files: true };
const removed: Happened = { $case: 'removed', value: {} };
const file: Happened = { $case: 'file', value: { path: 'a' } };
const failed: Happened = { $case: 'failed', value: { path: 'a', code: 'INTERNAL', message: 'm' } };
const progress: Happened = {
  $case: 'progress',
  value: { files: 1, bytes: 2, totalFiles: 3, totalBytes: 4, totalsFinal: true, bytesPerSecond: 5 },
};

/** A client that reads the pending events when asked. */
function client(events: EventStream, wanted = ALL, present: { transfer: number; happened: Happened }[] = []) {
  const over = new AbortController();
  const stream = events.watch(() => present, wanted, over.signal);
  const read = async (count: number) => {
    const names: string[] = [];
    while (names.length < count) {
      const { value, done } = await stream.next();
      if (done) break;
      names.push(value.happened?.$case ?? '');
    }
    return names;
  };
  return { stream, over, read };
}

describe('a stream of events', () => {
  it('reports the present state, then its end, then all events in one sequence', async () => {
    const events = new EventStream();
    events.emit(0, { happened: removed });
    const { stream, read } = client(events, ALL, [{ transfer: 1, happened: file }]);
    expect(await read(2)).toEqual(['file', 'present']);
    events.emit(1, { happened: file });
    events.emit(2, { happened: progress });
    const heard = [(await stream.next()).value, (await stream.next()).value];
    expect(heard.map(({ sequence, transfer }) => [sequence, transfer])).toEqual([
      [2, 1],
      [3, 2],
    ]);
  });

  it('leaves out unwanted events, and progress that the client has not read yet', async () => {
    const events = new EventStream();
    const { read } = client(events, { progress: true, files: false });
    await read(1);
    for (let i = 0; i < 100; i++) events.emit(1, { happened: i % 2 === 0 ? progress : file });
    events.emit(1, { happened: removed });
    const names = await read(17);
    expect(names.filter((name) => name === 'progress')).toHaveLength(16);
    expect(names.at(-1)).toBe('removed');
  });

  it('drops a client that does not read, by name, and no other', async () => {
    const events = new EventStream();
    const [slow, quick] = [client(events), client(events)];
    await Promise.all([slow.read(1), quick.read(1)]);
    for (let i = 0; i <= 4096; i++) {
      events.emit(1, { happened: failed });
      await quick.read(1);
    }
    await expect(slow.read(1)).rejects.toMatchObject({ code: 'EVENTS_LOST' });
    events.emit(1, { happened: removed });
    expect(await quick.read(1)).toEqual(['removed']);
  });

  it('ends with its client and leaves nothing behind', async () => {
    const events = new EventStream();
    const { read, over } = client(events);
    await read(1);
    expect(events.clients).toBe(1);
    const reading = read(1);
    over.abort(new Error('gone'));
    await expect(reading).rejects.toThrow('gone');
    expect(events.clients).toBe(0);
  });
});
