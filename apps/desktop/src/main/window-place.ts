// SPDX-License-Identifier: MPL-2.0

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Position and size of a window, and whether it is maximized. */
export interface Place extends Rectangle {
  readonly maximized: boolean;
}

export const SMALLEST = { width: 360, height: 480 };
const USUAL = { width: 1080, height: 760 };
/** This much of a window must be on a screen, in both directions, so that the user can grab it. */
const GRIP = 120;

/**
 * Where the window opens: at its last place if that can be seen and moved, else in the middle of the main screen.
 *
 * @param screens  work areas of all screens; the first is the main one
 */
export function placeOn(screens: readonly Rectangle[], kept: Place | undefined): Place {
  const main = screens[0] ?? { x: 0, y: 0, ...USUAL };
  const screen = kept && screens.find((each) => holds(each, kept));
  if (kept === undefined || screen === undefined) return { ...centred(main, kept ?? USUAL), maximized: false };
  const width = between(kept.width, SMALLEST.width, screen.width);
  const height = between(kept.height, SMALLEST.height, screen.height);
  // The title bar must stay reachable.
  return { x: kept.x, y: Math.max(kept.y, screen.y), width, height, maximized: kept.maximized };
}

function holds(screen: Rectangle, window: Rectangle): boolean {
  const across = Math.min(screen.x + screen.width, window.x + window.width) - Math.max(screen.x, window.x);
  const top = window.y >= screen.y - GRIP && window.y + GRIP <= screen.y + screen.height;
  return across >= GRIP && top;
}

function centred(screen: Rectangle, size: { width: number; height: number }): Rectangle {
  const width = between(size.width, SMALLEST.width, screen.width);
  const height = between(size.height, SMALLEST.height, screen.height);
  const x = screen.x + Math.round((screen.width - width) / 2);
  const y = screen.y + Math.round((screen.height - height) / 2);
  return { x, y, width, height };
}

function between(value: number, least: number, most: number): number {
  return Math.max(Math.min(value, most), Math.min(least, most));
}
