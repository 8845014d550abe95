// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  decodeMeetingMessage,
  encodeMeetingMessage,
  KeibiError,
  type MessagePipe,
  parseCode,
} from '../../packages/protocol/src/index.ts';
import { meetAsGuest } from '../../packages/session/src/index.ts';
import { joinAsGuest } from './hostile-receiver.ts';
import { Sending } from './sending.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Opens `count` connections that send `start` and then nothing. */
async function open(port: number, count: number, start: string | Uint8Array): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  for (const socket of sockets) socket.resume().write(start);
  return sockets;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
}

describe('the port of a sender', () => {
  it('serves an honest receiver among hundreds of connections that send nothing, a little, or garbage', async () => {
    const sending = await Sending.begin();
    const sockets: Socket[] = [];
    try {
      const { port } = sending;
      sockets.push(...(await open(port, 300, '')));
      sockets.push(...(await open(port, 300, 'KEIBI-')));
      sockets.push(...(await open(port, 100, Buffer.alloc(4096, 0xff))));
      sockets.push(...(await open(port, 100, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n')));
      sockets.push(...(await open(port, 100, 'KEIBI-L1')));
      sockets.push(...(await open(port, 200, 'KEIBI-C1')));
      sockets.push(
        ...(await open(port, 100, Buffer.concat([Buffer.from('KEIBI-C1'), Buffer.of(0, 0, 0xff, 0xff, 1, 1)]))),
      );
      sockets.push(...(await open(port, 200, PREFACE)));
      const { receiver, sender, whole } = await sending.servesAnHonestOne();
      expect({ receiver: receiver.exit, code: receiver.code, sender: sender.exit, whole }).toEqual({
        receiver: 0,
        code: undefined,
        sender: 0,
        whole: true,
      });
      expect(sender.stderr).toBe('');
      expect(sender.peakRss).toBeLessThan(260 * 2 ** 20);
    } finally {
      for (const socket of sockets) socket.destroy();
      await sending.close();
    }
  });

  it('closes connections of other protocols at once', async () => {
    const sending = await Sending.begin();
    try {
      const sockets = await open(sending.port, 20, 'SSH-2.0-OpenSSH_9.6\r\n');
      await Promise.all(sockets.map(closed));
    } finally {
      await sending.close();
    }
  });
});

describe('guessing the code', () => {
  /** A guest that has its share of the exchange and holds back its guess. */
  async function readyToGuess(port: number, words: string): Promise<() => Promise<string>> {
    const pipe = await joinAsGuest(port, '7');
    let guess: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      guess = resolve;
    });
    let arrived: () => void = () => {};
    const ready = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const holding: MessagePipe = {
      send: async (body) => {
        if (decodeMeetingMessage(body).kind === 'guest-confirm') {
          arrived();
          await held;
        }
        return pipe.send(body);
      },
      receive: (options) => pipe.receive(options),
      close: () => pipe.close(),
    };
    const { signal } = new AbortController();
    const met = meetAsGuest(holding, parseCode(`7-${words}`), { signal });
    const outcome = met.then(
      () => 'RIGHT',
      (reason) => (reason instanceof KeibiError ? reason.code : String(reason)),
    );
    await Promise.race([ready, outcome]);
    return () => {
      guess();
      return outcome;
    };
  }

  it('in many conversations at once gets three guesses judged, no more', async () => {
    const sending = await Sending.begin();
    try {
      const guesses = [];
      for (let i = 0; i < 24; i++) guesses.push(await readyToGuess(sending.port, `wrong-words${i}`));
      const right = await readyToGuess(sending.port, 'guitar-pencil');
      const outcomes = await Promise.all(guesses.map((guess) => guess()));
      expect(outcomes.filter((outcome) => outcome === 'CODE_WRONG')).toHaveLength(3);
      expect(await right()).not.toBe('RIGHT');
      const { exit, code, events } = await sending.command.ended;
      expect({ exit, code }).toEqual({ exit: 3, code: 'CODE_EXHAUSTED' });
      expect(events.filter(({ event }) => event === 'wrongCode').map(({ remaining }) => remaining)).toEqual([2, 1]);
    } finally {
      await sending.close();
    }
  });

  it('broken off before the guess costs no attempt and reveals nothing', async () => {
    const sending = await Sending.begin();
    try {
      for (let i = 0; i < 10; i++) {
        const pipe = await joinAsGuest(sending.port, '7');
        await pipe.send(encodeMeetingMessage({ kind: 'hello', sid: Buffer.alloc(16, i), ya: basePoint() }));
        const reply = decodeMeetingMessage(await pipe.receive({ signal: new AbortController().signal }));
        expect(reply.kind).toBe('share');
        pipe.close();
      }
      const { whole, sender } = await sending.servesAnHonestOne();
      expect({ whole, exit: sender.exit }).toEqual({ whole: true, exit: 0 });
    } finally {
      await sending.close();
    }
  });

  /** A valid ristretto255 element: the generator (RFC 9496 A.1). */
  function basePoint(): Uint8Array {
    return Buffer.from('e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76', 'hex');
  }
});
