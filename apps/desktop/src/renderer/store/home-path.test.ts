// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { withoutTilde, withTilde } from './home-path.ts';

describe('a path in the home folder', () => {
  it.each([
    ['/home/ada', '~'],
    ['/home/ada/Downloads/ü', '~/Downloads/ü'],
    ['/home/adam/x', '/home/adam/x'],
    ['/srv/home/ada', '/srv/home/ada'],
  ])('%s is shown as %s, and parsed back', (path, shown) => {
    expect(withTilde(path, '/home/ada')).toBe(shown);
    expect(withoutTilde(shown, '/home/ada')).toBe(path);
  });

  it('is unchanged if the home folder is unknown or the root folder', () => {
    for (const home of ['', '/']) expect(withTilde('/home/ada', home)).toBe('/home/ada');
    expect(withoutTilde('~/x', '')).toBe('~/x');
    expect(withoutTilde('~ada/x', '/home/ada')).toBe('~ada/x');
  });
});
