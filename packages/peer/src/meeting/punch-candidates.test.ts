// SPDX-License-Identifier: MPL-2.0
import { expect, it } from 'vitest';
import { announcedBy, fromOwnPort } from './punch-candidates.ts';

const lan = { transport: 'direct', host: '192.0.2.1', port: 1 };
const wan = { transport: 'direct', host: '198.51.100.1', port: 1 };
const punched = { transport: 'punched', host: '198.51.100.1', port: 2 };
const seenAt = (host: string) => ({ host, port: 4, fromPort: 5 });

it('dials a sender that knows our port from that port, soon after the best address', () => {
  expect(fromOwnPort([lan, wan, punched], seenAt('203.0.113.1'))).toEqual([lan, { ...punched, fromPort: 5 }, wan]);
});

it('dials through the router last when both are behind it', () => {
  expect(fromOwnPort([lan, punched, wan], seenAt('198.51.100.1'))).toEqual([lan, wan, { ...punched, fromPort: 5 }]);
});

it('does not punch if the sender has no port of ours', () => {
  expect(fromOwnPort([lan, punched], undefined)).toEqual([lan]);
  expect(announcedBy(undefined)).toEqual([]);
});

it('sends a sender the port as it is seen from outside', () => {
  expect(announcedBy(seenAt('203.0.113.1'))).toEqual([{ transport: 'punched', host: '203.0.113.1', port: 4 }]);
});
