// SPDX-License-Identifier: MPL-2.0
import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Candidate, KeibiError, type MessagePipe } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import { merged, raceJoins } from '../src/rendezvous/join-race.ts';

/** A pipe that only records whether it was closed. */
class Pipe implements MessagePipe {
  closed = false;
  async send(): Promise<void> {}
  receive(): Promise<Uint8Array> {
    return new Promise(() => {});
  }
  close(): void {
    this.closed = true;
  }
}

const at = (port: number): Candidate => ({ transport: 'lan', host: '192.168.1.7', port });
const absent = () => Promise.reject(new KeibiError('RENDEZVOUS_NOT_FOUND'));
const { signal } = new AbortController();

/** Pending until the abort, then rejects. */
function untilOver(over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => over.addEventListener('abort', () => reject(over.reason), { once: true }));
}

async function* yielding(...ports: number[]): AsyncGenerator<Candidate> {
  for (const port of ports) yield at(port);
}

describe('a race of joins', () => {
  it('tries the next place when one fails, and lists the failed ones', async () => {
    const pipe = new Pipe();
    const join = ({ port }: Candidate) => (port === 3 ? Promise.resolve(pipe) : absent());
    const { joined, attempts } = await raceJoins({ places: () => yielding(1, 2, 3, 4), join, signal });
    expect(joined).toEqual({ pipe, place: at(3) });
    expect(attempts.map(({ place, error }) => [place.port, error.code])).toEqual([
      [1, 'RENDEZVOUS_NOT_FOUND'],
      [2, 'RENDEZVOUS_NOT_FOUND'],
    ]);
    expect(pipe.closed).toBe(false);
  });

  it('does not wait for a silent place, and ends its try', async () => {
    const ended: unknown[] = [];
    const join = async ({ port }: Candidate, over: AbortSignal) => {
      if (port === 1) await untilOver(over).finally(() => ended.push(over.reason));
      return new Pipe();
    };
    const { joined, attempts } = await raceJoins({ places: () => yielding(1, 2), join, signal });
    expect(joined?.place).toEqual(at(2));
    expect(attempts).toEqual([]);
    expect(ended).toMatchObject([{ code: 'CANCELLED' }]);
  });

  it('ends the search when a place is entered during the search for the next', async () => {
    const places = async function* (over: AbortSignal) {
      yield at(1);
      await untilOver(over);
    };
    const join = async () => sleep(300, new Pipe());
    expect((await raceJoins({ places, join, signal })).joined?.place).toEqual(at(1));
  });

  it('closes a mailbox that was entered too late', async () => {
    const late = new Pipe();
    const join = ({ port }: Candidate) => (port === 1 ? sleep(350, late) : Promise.resolve(new Pipe()));
    expect((await raceJoins({ places: () => yielding(1, 2), join, signal })).joined?.place).toEqual(at(2));
    await expect.poll(() => late.closed).toBe(true);
  });

  it('finds nothing if there are no places', async () => {
    expect(await raceJoins({ places: () => yielding(), join: absent, signal })).toEqual({ attempts: [] });
  });

  it('rejects with the error of the search, and with the reason of an abort', async () => {
    const broken = new KeibiError('CONFIG_INVALID');
    const places = () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(broken) }) });
    await expect(raceJoins({ places, join: absent, signal })).rejects.toBe(broken);
    const controller = new AbortController();
    const reason = new Error('enough');
    const racing = raceJoins({
      places: () => yielding(1),
      join: (_, over) => untilOver(over),
      signal: controller.signal,
    });
    controller.abort(reason);
    await expect(racing).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});

describe('merged sources', () => {
  it('yield in order of arrival, and end with the last source', async () => {
    const slow = async function* () {
      yield await sleep(60, 'slow');
    };
    const quick = async function* () {
      yield 'quick';
      yield await sleep(20, 'quick again');
    };
    const all: string[] = [];
    for await (const each of merged([slow(), quick()])) all.push(each);
    expect(all).toEqual(['quick', 'quick again', 'slow']);
  });
});
