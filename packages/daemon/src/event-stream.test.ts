// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { EventStream } from './event-stream.ts';

const ALL = { progress: true, files: true };

/** A client that reads the pending events when asked. */
function client(events: EventStream, wanted = ALL, present: { transfer: number; event: { event: string } }[] = []) {
  const over = new AbortController();
  const stream = events.watch(() => present, wanted, over.signal);
  const read = async (count: number) => {
    const names: string[] = [];
    while (names.length < count) {
      const { value, done } = await stream.next();
      if (done) break;
      names.push(JSON.parse(value.json).event);
    }
    return names;
  };
  return { stream, over, read };
}

describe('a stream of events', () => {
  it('reports the present state, then its end, then all events in one sequence', async () => {
    const events = new EventStream();
    events.emit(0, { event: 'before' });
    const { stream, read } = client(events, ALL, [{ transfer: 1, event: { event: 'transfer' } }]);
    expect(await read(2)).toEqual(['transfer', 'present']);
    events.emit(1, { event: 'file' });
    events.emit(2, { event: 'progress' });
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
    for (let i = 0; i < 100; i++) events.emit(1, { event: i % 2 === 0 ? 'progress' : 'file' });
    events.emit(1, { event: 'done' });
    const names = await read(17);
    expect(names.filter((name) => name === 'progress')).toHaveLength(16);
    expect(names.at(-1)).toBe('done');
  });

  it('drops a client that does not read, by name, and no other', async () => {
    const events = new EventStream();
    const [slow, quick] = [client(events), client(events)];
    await Promise.all([slow.read(1), quick.read(1)]);
    for (let i = 0; i <= 4096; i++) {
      events.emit(1, { event: 'failed' });
      await quick.read(1);
    }
    await expect(slow.read(1)).rejects.toMatchObject({ code: 'EVENTS_LOST' });
    events.emit(1, { event: 'last' });
    expect(await quick.read(1)).toEqual(['last']);
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
