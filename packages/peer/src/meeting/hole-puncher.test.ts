// SPDX-License-Identifier: MPL-2.0
import { Listener } from '@keibidrop/native';
import { afterEach, expect, it } from 'vitest';
import { HolePuncher } from './hole-puncher.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function listen(): Listener {
  const listener = Listener.open({ host: '127.0.0.1', port: 0, onConnection: () => {} });
  open.push(listener);
  return listener;
}

it('recognizes connections from the places it has dialled', () => {
  const holes = new HolePuncher(listen());
  holes.openTo([
    { transport: 'punched', host: '192.0.2.1', port: 7 },
    { transport: 'direct', host: '192.0.2.2', port: 7 },
  ]);
  expect(holes.has({ host: '192.0.2.1', port: 7 })).toBe(true);
  expect(holes.has({ host: '192.0.2.1', port: 8 })).toBe(false);
  expect(holes.has({ host: '192.0.2.2', port: 7 })).toBe(false);
});

it.each([
  '127.0.0.1',
  '::1',
  '0.0.0.0',
  '::',
  '::ffff:127.0.0.1',
  '224.0.0.251',
  'ff02::fb',
  '169.254.169.254',
  '::ffff:169.254.169.254',
  'fe80::1',
  '255.255.255.255',
  'a.example',
])('never dials %s on request', (host) => {
  const holes = new HolePuncher(listen());
  holes.open({ host, port: 7 });
  expect(holes.has({ host, port: 7 })).toBe(false);
});

it('never dials where only a relay may be used', () => {
  const holes = new HolePuncher(undefined);
  holes.open({ host: '192.0.2.1', port: 7 });
  expect(holes.has({ host: '192.0.2.1', port: 7 })).toBe(false);
});
