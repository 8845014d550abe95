// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { betterPathOf, pathTo } from './suites.ts';

describe('the path of a connection', () => {
  it.each<[string, Parameters<typeof pathTo>[1], string]>([
    ['127.0.0.1', {}, 'local'],
    ['::ffff:127.0.0.1', {}, 'local'],
    ['::1', { lan: true }, 'local'],
    ['192.168.1.7', { own: '192.168.1.7', lan: true }, 'local'],
    ['192.168.1.7', { own: '192.168.1.8', lan: true }, 'lan'],
    ['::ffff:192.168.1.7', { lan: true }, 'lan'],
    ['fe80::7%eth0', { own: 'fe80::8%eth0', lan: true }, 'lan'],
    ['192.168.1.7', {}, 'direct'],
    ['203.0.113.7', { lan: true }, 'direct'],
  ])('to %s with %o is %s', (address, options, path) => {
    expect(pathTo(address, options)).toBe(path);
  });
});

describe('the reported path of moved lanes', () => {
  it.each(['lan', 'punched'] as const)('%s is shown', (path) => expect(betterPathOf(path)).toBe(path));
  it.each(['relay', '', 'toString', '\u001b[2J'])('%j is not', (path) => expect(betterPathOf(path)).toBeUndefined());
});
