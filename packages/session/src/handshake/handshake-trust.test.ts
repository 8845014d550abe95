// SPDX-License-Identifier: MPL-2.0
import { FrameOpener } from '@keibidrop/native';
import { decodeHandshakeMessage } from '@keibidrop/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Alter, From } from '../../test/handshake-relay.ts';
import { attempt, auth, codesOf, type Outcome, recorded, shakeHands, willing } from '../../test/handshake-run.ts';
import { TcpPairs } from '../../test/tcp-pairs.ts';
import { type PreparedHandshake, prepareHandshake } from './ephemeral.ts';
import { handshakeAsInitiator, handshakeAsResponder } from './handshake.ts';

let pairs: TcpPairs;
/** Keys that the runs of a table share, because drawing them takes most of the time. Never wiped. */
let reused: { initiator: Promise<PreparedHandshake>; responder: Promise<PreparedHandshake> };

beforeAll(async () => {
  pairs = await TcpPairs.listen();
  const unwiped = async (role: From) => ({ ...(await prepareHandshake(role)), wipe: () => {} });
  reused = { initiator: unwiped('initiator'), responder: unwiped('responder') };
});
afterAll(() => pairs.close());

describe('a handshake with one altered byte', () => {
  const everyByte = process.env.KD_TEST_EVERY_BYTE === '1';

  /**
   * Positions to test: every byte of a message, but of the 1568 bytes of ML-KEM only the first, the last and every 7th
   * (all with KD_TEST_EVERY_BYTE=1).
   */
  function positions(fields: readonly (readonly [string, number])[]): { field: string; at: number }[] {
    let start = 0;
    return fields.flatMap(([field, length]) => {
      const first = start;
      start += length;
      const step = length > 100 && !everyByte ? 7 : 1;
      const offsets = Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step);
      if (offsets.at(-1) !== length - 1) offsets.push(length - 1);
      return offsets.map((offset) => ({ field, at: first + offset }));
    });
  }

  const head = [
    ['length', 4],
    ['version', 1],
    ['kind', 1],
  ] as const;
  const offer = [
    ['suites', 1],
    ['hardware', 1],
  ] as const;
  const MALFORMED = ['HANDSHAKE_MALFORMED'];
  const TAMPERED = ['HANDSHAKE_TAMPERED'];

  /** Permitted outcomes on either side when a field is altered. Each position alters a different bit. */
  const expected: Record<string, string[]> = {
    length: MALFORMED,
    version: [...MALFORMED, 'PEER_NEWER', 'PEER_OLDER'],
    kind: MALFORMED,
    suites: [...TAMPERED, 'HANDSHAKE_NO_COMMON_SUITE'],
    hardware: [...TAMPERED, ...MALFORMED],
    attempt: MALFORMED,
    X25519: TAMPERED,
    'ML-KEM key': [...TAMPERED, ...MALFORMED],
    'ML-KEM ciphertext': TAMPERED,
    confirm: TAMPERED,
  };

  const M1 = positions([...head, ...offer, ['attempt', 16], ['X25519', 32], ['ML-KEM key', 1568]]);
  const M2 = positions([...head, ...offer, ['X25519', 32], ['ML-KEM ciphertext', 1568], ['confirm', 32]]);
  const M3 = positions([...head, ['confirm', 32]]);

  function flipped(from: From, index: number, at: number, mask: number): Alter {
    return (message, sender, number) => {
      if (sender === from && number === index) message[at] = (message[at] as number) ^ mask;
      return message;
    };
  }

  function altered(from: From, index: number, at: number, mask = 1 << (at % 8)): Promise<Outcome> {
    return shakeHands(pairs, flipped(from, index, at, mask), {
      initiator: { prepared: reused.initiator },
      responder: { prepared: reused.responder },
    });
  }

  /** Runs a table, eight items at a time. */
  async function each<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
    const rest = [...items];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let item = rest.pop(); item !== undefined; item = rest.pop()) await act(item);
      }),
    );
  }

  it.each([
    { name: 'M1', from: 'initiator', table: M1 },
    { name: 'M2', from: 'responder', table: M2 },
  ] as const)(
    'is refused by name on both sides, wherever in $name it is',
    { timeout: 120_000 },
    async ({ from, table }) => {
      await each(table, async ({ field, at }) => {
        const outcome = await altered(from, 0, at);
        const where = `${field} at ${at}: ${JSON.stringify(codesOf(outcome))}`;
        expect(expected[field], where).toContain(codesOf(outcome).initiator);
        expect(expected[field], where).toContain(codesOf(outcome).responder);
        expect(outcome.initiatorSocket.writable || outcome.responderSocket.writable, where).toBe(false);
      });
    },
  );

  it('is refused by name by the responder at every position of M3, and the initiator receives an alert and no frame', async () => {
    await each(M3, async ({ field, at }) => {
      const outcome = await altered('initiator', 1, at);
      const where = `${field} at ${at}`;
      expect(expected[field], where).toContain(codesOf(outcome).responder);
      expect(codesOf(outcome).initiator, where).toBe('ok');
      const pieces: Uint8Array[] = [];
      for await (const piece of outcome.initiatorSocket) pieces.push(piece);
      const alert = new Uint8Array(Buffer.concat(pieces));
      expect(decodeHandshakeMessage(alert), where).toMatchObject({ kind: 'alert' });
      expect(() => FrameOpener.bodyBytes(alert.subarray(0, 4)), where).toThrow(
        expect.objectContaining({ code: 'FRAME_TOO_LARGE' }),
      );
    });
  });

  it.each([
    ['M1', 'initiator', 24 + 31],
    ['M2', 'responder', 8 + 31],
  ] as const)('is refused even where X25519 ignores it, the top bit of the share in %s', async (_, from, at) => {
    expect(codesOf(await altered(from, 0, at, 0x80))).toEqual({
      initiator: 'HANDSHAKE_TAMPERED',
      responder: 'HANDSHAKE_TAMPERED',
    });
  });

  it.each(
    [0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => (['initiator', 'responder'] as const).map((from) => ({ bit, from }))),
  )('is refused in bit $bit of the suites and of the hardware byte that the $from sends', async ({ bit, from }) => {
    for (const [field, at] of [
      ['suites', 6],
      ['hardware', 7],
    ] as const) {
      const { initiator, responder } = codesOf(await altered(from, 0, at, 1 << bit));
      expect(expected[field]).toContain(initiator);
      expect(expected[field]).toContain(responder);
    }
  });

  it.each([
    ['M1', 'initiator', 24],
    ['M2', 'responder', 8],
  ] as const)('is refused for the all-zero share put into %s', async (_, from, at) => {
    const zeroed: Alter = (message, sender, index) => {
      if (sender === from && index === 0) message.fill(0, at, at + 32);
      return message;
    };
    expect(codesOf(await shakeHands(pairs, zeroed))).toEqual({
      initiator: 'HANDSHAKE_MALFORMED',
      responder: 'HANDSHAKE_MALFORMED',
    });
  });
});

describe('a recorded handshake', () => {
  it('is useless against the responder: replayed M1 and M3 are refused', async () => {
    const old = await recorded(pairs);
    const [attacker, responderSocket] = await pairs.open();
    attacker.resume();
    attacker.write(Buffer.concat(old.initiator));
    const shaking = handshakeAsResponder(responderSocket, { ...willing, authOf: () => auth });
    await expect(shaking).rejects.toMatchObject({ code: 'HANDSHAKE_TAMPERED' });
  });

  it('is useless against the initiator: a replayed M2 is refused', async () => {
    const old = await recorded(pairs);
    const outcome = await shakeHands(pairs, (message, from) =>
      from === 'responder' ? (old.responder[0] as Uint8Array) : message,
    );
    expect(codesOf(outcome)).toEqual({ initiator: 'HANDSHAKE_TAMPERED', responder: 'HANDSHAKE_TAMPERED' });
  });

  it.each(['initiator', 'responder'] as const)('is useless when mirrored at the %s', async (from) => {
    const [mirror, socket] = await pairs.open();
    mirror.pipe(mirror);
    if (from === 'initiator') {
      // The preamble arrives first; read as a length, it exceeds every limit.
      const shaking = handshakeAsInitiator(socket, { ...willing, attempt, auth });
      await expect(shaking).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
    } else {
      const old = await recorded(pairs);
      socket.unshift(Buffer.from(old.initiator[0] as Uint8Array));
      const shaking = handshakeAsResponder(socket, { ...willing, authOf: () => auth });
      await expect(shaking).rejects.toMatchObject({ code: 'HANDSHAKE_MALFORMED' });
    }
  });
});
