// SPDX-License-Identifier: MPL-2.0
import { afterAll, describe, expect, it } from 'vitest';
import type { Attack, Change, Direction, Kind } from './man-in-the-middle.ts';
import { transferThroughProxy } from './through-proxy.ts';

/** Changes unit number `at` and forwards the others unchanged. */
function on(at: number, change: (unit: Buffer) => ReturnType<Change>): Change {
  return (unit, number) => (number === at ? change(unit) : [unit]);
}

/** Flips one bit of the byte at `offset`; a negative offset counts from the end. */
function flip(offset: number): (unit: Buffer) => Buffer[] {
  return (unit) => {
    const at = offset < 0 ? unit.length + offset : offset;
    unit[at] = (unit[at] as number) ^ 1;
    return [unit];
  };
}

/** Swaps unit `at` with the next one. */
function swap(at: number): Change {
  let held: Buffer | undefined;
  return (unit, number) => {
    if (number === at) {
      held = unit;
      return [];
    }
    return number === at + 1 && held ? [unit, held] : [unit];
  };
}

/** Replaces unit `at` by a copy of unit `first`. */
function replay(first: number, at: number): Change {
  let kept = Buffer.alloc(0);
  return (unit, number) => {
    if (number === first) kept = Buffer.from(unit);
    return number === at ? [kept] : [unit];
  };
}

const drop = (): Buffer[] => [];
const twice = (unit: Buffer): Buffer[] => [unit, unit];
const half = (unit: Buffer) => ({ units: [unit.subarray(0, unit.length >> 1)], end: true as const });
const cut = (unit: Buffer) => ({ units: [unit], end: true as const });

// Units of the control connection: from the dialler 0 is the preamble, 1 is M1, 2 is M3, then frames; from the listener
// 0 is M2. Units of a lane: from the dialler 0 is the preamble with session and number, 1 the hello. The listener's
// frames start at 0, which is the small file.
const M1 = 1;
const M3 = 2;
const M2 = 0;
const up = (kind: Kind, change: Change): Attack => ({ kind, direction: 'fromReceiver' satisfies Direction, change });
const down = (kind: Kind, change: Change): Attack => ({ kind, direction: 'fromSender', change });

const LOST = ['SESSION_LOST', 5];
const CLOSED = ['SESSION_CLOSED', 5];
const MALFORMED = ['HANDSHAKE_MALFORMED', 3];
const TAMPERED = ['HANDSHAKE_TAMPERED', 3];
const AUTH = ['FRAME_AUTH_FAILED', 3];
const REPLAYED = ['FRAME_REPLAYED', 3];
const TOO_LARGE = ['FRAME_TOO_LARGE', 3];
const TRUNCATED = ['FRAME_TRUNCATED', 3];

/** The attack, and the allowed endings of the receiver's command: error code and exit code. */
const attacks: [what: string, attack: Attack, ...endings: (string | number)[][]][] = [
  ['control preamble: a byte altered', up('control', on(0, flip(6))), LOST],
  ['M1: version altered', up('control', on(M1, flip(4))), MALFORMED],
  ['M1: kind altered', up('control', on(M1, flip(5))), MALFORMED],
  ['M1: suites altered', up('control', on(M1, flip(6))), TAMPERED],
  ['M1: hardware altered', up('control', on(M1, flip(7))), TAMPERED],
  ['M1: attempt altered', up('control', on(M1, flip(10))), MALFORMED],
  ['M1: X25519 share altered', up('control', on(M1, flip(30))), TAMPERED],
  ['M1: ML-KEM key altered', up('control', on(M1, flip(-5))), TAMPERED],
  ['M1: cut in the middle', up('control', on(M1, half)), LOST],
  ['M2: suites altered', down('control', on(M2, flip(6))), TAMPERED],
  ['M2: X25519 share altered', down('control', on(M2, flip(10))), TAMPERED],
  ['M2: ML-KEM ciphertext altered', down('control', on(M2, flip(100))), TAMPERED],
  ['M2: confirm altered', down('control', on(M2, flip(-1))), TAMPERED],
  ['M2: sent twice', down('control', on(M2, twice)), TOO_LARGE, AUTH, REPLAYED],
  ['M2: cut in the middle', down('control', on(M2, half)), LOST],
  ['M3: confirm altered', up('control', on(M3, flip(-1))), LOST, TAMPERED, TRUNCATED, TOO_LARGE, REPLAYED],
  ['M3: replaced by M1', up('control', replay(M1, M3)), LOST, MALFORMED, TRUNCATED, TOO_LARGE, REPLAYED],
  ['control frame: top length byte altered, up', up('control', on(3, flip(0))), LOST, CLOSED],
  ['control frame: left out, up', up('control', on(3, drop)), LOST, CLOSED],
  ['control frame: nonce altered, up', up('control', on(3, flip(15))), LOST, CLOSED],
  ['control frame: ciphertext altered, up', up('control', on(4, flip(18))), LOST, CLOSED],
  ['control frame: tag altered, up', up('control', on(4, flip(-1))), LOST, CLOSED],
  ['control frame: sent twice, up', up('control', on(4, twice)), LOST, CLOSED],
  ['control frame: top length byte altered, down', down('control', on(1, flip(0))), TOO_LARGE],
  ['control frame: epoch altered, down', down('control', on(1, flip(7))), REPLAYED, AUTH],
  ['control frame: counter altered, down', down('control', on(1, flip(15))), REPLAYED],
  ['control frame: ciphertext altered, down', down('control', on(1, flip(16))), AUTH],
  ['control frame: tag altered, down', down('control', on(2, flip(-1))), AUTH],
  ['control frame: sent twice, down', down('control', on(1, twice)), REPLAYED],
  ['control frame: left out, down', down('control', on(1, drop)), REPLAYED],
  ['control frames: swapped, down', down('control', swap(1)), REPLAYED],
  ['control frame: an old one replayed, down', down('control', replay(1, 3)), REPLAYED],
  ['control frame: cut in the middle, down', down('control', on(2, half)), TRUNCATED, LOST],
  ['control connection: cut between frames, down', down('control', on(2, cut)), LOST],
  ['lane: preamble altered', up('lane', on(0, flip(6))), LOST],
  ['lane: session altered', up('lane', on(0, flip(9))), LOST],
  ['lane: number altered', up('lane', on(0, flip(27))), LOST],
  ['lane hello: nonce altered', up('lane', on(1, flip(15))), LOST],
  ['lane hello: ciphertext altered', up('lane', on(1, flip(16))), LOST],
  ['lane hello: tag altered', up('lane', on(1, flip(-1))), LOST],
  ['lane frame: top length byte altered', down('lane', on(0, flip(0))), TOO_LARGE],
  ['lane frame: low length byte altered', down('lane', on(0, flip(3))), AUTH, REPLAYED, TOO_LARGE],
  ['lane frame: epoch altered', down('lane', on(0, flip(7))), AUTH, REPLAYED],
  ['lane frame: counter altered', down('lane', on(0, flip(15))), REPLAYED],
  ['lane frame: first byte of ciphertext altered', down('lane', on(0, flip(16))), AUTH],
  ['lane frame: last byte of ciphertext altered', down('lane', on(0, flip(-17))), AUTH],
  ['lane frame: tag altered', down('lane', on(0, flip(-1))), AUTH],
  ['lane frame: sent twice', down('lane', on(0, twice)), REPLAYED],
  ['lane frame: left out', down('lane', on(0, drop)), REPLAYED],
  ['lane frames: swapped', down('lane', swap(0)), REPLAYED],
  ['lane frame: an old one replayed', down('lane', replay(0, 2)), REPLAYED],
  [
    'rendezvous: HTTP/2 preface altered',
    up('rendezvous', on(0, flip(10))),
    ['RENDEZVOUS_UNREACHABLE', 4],
    ['PEER_UNREACHABLE', 4],
  ],
];

/** Attacks that only cost time: other lanes carry what one did not (PROTOCOL 5.3). */
const delays: [what: string, attack: Attack][] = [
  ['lane frame: cut in the middle', down('lane', on(1, half))],
  ['lane: cut between frames', down('lane', on(1, cut))],
];

/** The sender's errors for frames that the sender reads. */
const atTheSender: Record<string, string> = {
  'control frame: top length byte altered, up': 'FRAME_TOO_LARGE',
  'control frame: nonce altered, up': 'FRAME_REPLAYED',
  'control frame: ciphertext altered, up': 'FRAME_AUTH_FAILED',
  'control frame: tag altered, up': 'FRAME_AUTH_FAILED',
  'control frame: sent twice, up': 'FRAME_REPLAYED',
  'control frame: left out, up': 'FRAME_REPLAYED',
};

const table: string[] = [];
afterAll(() => console.log(['attack -> receiver (exit), sender', ...table.sort()].join('\n')));

describe('a man in the middle', () => {
  it.concurrent.each(attacks)(
    '%s: is detected by a named error and places no file',
    async (what, attack, ...endings) => {
      const awaitLost = /frame|lane|connection/.test(what);
      const { receiver, sender, placed } = await transferThroughProxy({ attack, awaitLost });
      const lost = sender.events.find(({ event }) => event === 'receiverLost');
      table.push(`${what} -> ${receiver.code} (${receiver.exit}), ${lost?.code ?? 'keeps waiting'}`);
      expect(endings).toContainEqual([receiver.code, receiver.exit]);
      if (what in atTheSender) expect(lost?.code).toBe(atTheSender[what]);
      expect(receiver.stderr + sender.stderr).toBe('');
      expect(placed.filter((name) => name !== 'offer' && !name.startsWith(whatCameBefore(what)))).toEqual([]);
    },
  );
});

describe('a man in the middle that cuts each lane after its first frame', () => {
  it.concurrent.each(delays)('%s: only delays the transfer', async (_what, attack) => {
    const { receiver, sender, placed, proxy } = await transferThroughProxy({ attack });
    expect([receiver.exit, sender.exit]).toEqual([0, 0]);
    expect(placed.sort()).toEqual(
      ['offer', 'offer/a-name', 'offer/large'].map((name) => expect.stringContaining(name)),
    );
    expect(proxy.of('lane').length).toBeGreaterThan(1);
  });
});

/** The first lane frame holds the small file, which may be in place if only a later frame was attacked. */
function whatCameBefore(what: string): string {
  return /replayed|sent twice|cut/.test(what) ? 'offer/a-name' : 'nothing';
}
