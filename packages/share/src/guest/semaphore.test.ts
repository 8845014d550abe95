// SPDX-License-Identifier: MPL-2.0
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

describe('slots', () => {
  it('let a limited number work at a time, in order of arrival', async () => {
    const slots = new Semaphore(2);
    const { signal } = new AbortController();
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const work = (i: number) => async () => {
      most = Math.max(most, ++running);
      order.push(i);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      if (i === 3) throw new Error('three');
    };
    const all = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => slots.run({ signal }, work(i))));
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(all.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('stop waiting after the signal, and lose no slot by it', async () => {
    const slots = new Semaphore(1);
    const { signal } = new AbortController();
    let end = () => {};
    const first = slots.run({ signal }, () => new Promise<void>((resolve) => (end = resolve)));
    const abort = new AbortController();
    const given = slots.run(abort, async () => expect.unreachable());
    const last = slots.run({ signal }, async () => 'last');
    abort.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    end();
    await first;
    expect(await last).toBe('last');
    expect(await slots.run({ signal }, async () => 'next')).toBe('next');
    await expect(slots.run(abort, async () => 'never')).rejects.toThrow('enough');
  });
});
