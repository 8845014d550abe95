// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { type Place, placeOn } from './window-place.ts';

const LEFT = { x: 0, y: 25, width: 1920, height: 1055 };
const RIGHT = { x: 1920, y: 0, width: 2560, height: 1440 };
const place = (x: number, y: number, width = 1000, height = 700): Place => ({ x, y, width, height, maximized: false });

describe('where the window opens', () => {
  it.each<[string, Place | undefined, (typeof LEFT)[], Place]>([
    ['the first time, in the middle', undefined, [LEFT], place(420, 173, 1080, 760)],
    ['at its last place', place(100, 100), [LEFT], place(100, 100)],
    ['at its last place on the second screen', place(2000, 50), [LEFT, RIGHT], place(2000, 50)],
    ['in the middle once that screen is gone', place(2000, 50), [LEFT], place(460, 203)],
    ['in the middle if it was below the screen', place(100, 1050), [LEFT], place(460, 203)],
    ['below a new panel', place(100, 0), [LEFT], place(100, 25)],
    ['partly outside, where it was', place(-700, 100), [LEFT], place(-700, 100)],
    ['in the middle if too little of it is visible', place(-950, 100), [LEFT], place(460, 203)],
    ['no larger than a screen that has shrunk', place(0, 30, 5000, 4000), [LEFT], place(0, 30, 1920, 1055)],
    ['no smaller than usable', place(0, 30, 200, 200), [LEFT], place(0, 30, 360, 480)],
  ])('%s', (_what, kept, screens, expected) => {
    expect(placeOn(screens, kept)).toEqual(expected);
  });

  it('fills the screen if it did', () => {
    const kept = { ...place(100, 100), maximized: true };
    expect(placeOn([LEFT], kept)).toEqual(kept);
  });
});
