// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { GuessLock } from './guess-lock.ts';

describe('a lock against guesses', () => {
  it('closes for a time that doubles with each wrong guess, and opens by itself', () => {
    let now = 7;
    const lock = new GuessLock(() => now);
    expect([lock.wrong(), lock.wrong(), lock.isLocked]).toEqual([0, 0, false]);
    for (const minutes of [1, 2, 4, 8]) {
      expect([lock.wrong(), lock.isLocked]).toEqual([minutes * 60_000, true]);
      now += minutes * 60_000 - 1;
      expect(lock.isLocked).toBe(true);
      now++;
      expect(lock.isLocked).toBe(false);
    }
  });

  it('allows fewer than 400 guesses in a year to an attacker who waits for every lock to open', () => {
    let now = 0;
    let guesses = 0;
    const lock = new GuessLock(() => now);
    for (const year = 365 * 24 * 60 * 60_000; now < year; guesses++) now += lock.wrong();
    expect(guesses).toBeLessThan(400);
  });
});
