// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { ALL_SUITES, type Candidate, type KeibiError } from '@keibidrop/protocol';
import { handshakeAsResponder, type Meeting, prepareHandshake } from '@keibidrop/session';
import { afterEach, describe, expect, it } from 'vitest';
import type { ReceiveOptions } from '../src/api.ts';
import { dialSender } from '../src/meeting/dial-sender.ts';

// Other programs may listen at a sender's addresses: only the right sender wins the race.

const ATTEMPT = new Uint8Array(16).fill(7);
const AUTH = new Uint8Array(32).fill(8);
const { signal } = new AbortController();
const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

async function listen(onConnection: (socket: Socket) => void): Promise<Candidate> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  closings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  return { transport: 'direct', host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

/**
 * A KeibiDrop sender that knows this meeting, or another one. It answers once `guests` have connected. When all `answers` are
 * given, `met` has the port of each guest after its handshake.
 */
async function listenAsSender(auth: Uint8Array | undefined, guests = 1) {
  const met: string[] = [];
  const answers: Promise<void>[] = [];
  let begin = () => {};
  const complete = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const candidate = await listen((socket) => {
    answers.push(answer(socket));
    if (answers.length === guests) begin();
  });
  async function answer(socket: Socket): Promise<void> {
    await complete;
    if (socket.readableLength < 8) await once(socket, 'readable');
    expect(String(socket.read(8))).toBe('KEIBI-C1');
    const options = { suites: ALL_SUITES, hardware: true, authOf: () => auth, signal };
    await handshakeAsResponder(socket, options).then(
      () => void met.push(`${socket.remotePort}`),
      () => {},
    );
  }
  return { candidate, met, answers };
}

const meeting: Meeting = { attempt: ATTEMPT, auth: AUTH, sealGuest: AUTH, sealOwner: AUTH, wipe: () => {} };

function dial(candidates: Candidate[], reach: Partial<ReceiveOptions['reach']> = {}) {
  const options = { reach: { discovery: 'off', directOnly: false, relayOnly: false, ...reach }, signal };
  return dialSender(candidates, meeting, prepareHandshake('initiator'), options as ReceiveOptions);
}

const RELAY: Candidate = { transport: 'relay', host: '127.0.0.1', port: 1, token: '00'.repeat(32) };

describe('a sender that is dialled', () => {
  it('is found among a web server, a silent listener, another sender and a closed port', async () => {
    const web = await listen((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const silent = await listen(() => {});
    const other = await listenAsSender(new Uint8Array(32));
    const stranger = await listenAsSender(undefined);
    const sender = await listenAsSender(AUTH);
    const dead: Candidate = { transport: 'direct', host: '127.0.0.1', port: 1 };
    const all = [web, silent, other.candidate, stranger.candidate, dead, sender.candidate];
    const { socket, path, tried } = await dial(all);
    expect(socket.remotePort).toBe(sender.candidate.port);
    expect(path).toBe('local');
    const why = new Map(tried.map(({ address, code }) => [address, code]));
    const at = ({ port }: Candidate) => why.get(`127.0.0.1:${port}`);
    expect(at(web)).toBe('HANDSHAKE_MALFORMED');
    expect(at(other.candidate)).toBe('HANDSHAKE_TAMPERED');
    expect(at(stranger.candidate)).toBe('HANDSHAKE_MALFORMED');
    expect([at(silent), at(dead)]).toEqual(['PEER_UNREACHABLE', 'PEER_UNREACHABLE']);
    expect(other.met).toEqual([]);
    socket.destroy();
  });

  it('meets us once, though every address leads to it and it answers at all of them', async () => {
    const sender = await listenAsSender(AUTH, 3);
    const localhost = { ...sender.candidate, host: 'localhost' };
    const mapped = { ...sender.candidate, host: '::ffff:127.0.0.1' };
    const { socket } = await dial([sender.candidate, localhost, mapped]);
    await Promise.all(sender.answers);
    expect(sender.met).toEqual([`${socket.localPort}`]);
    socket.destroy();
  });

  it.each<[string, Candidate[], Partial<ReceiveOptions['reach']>, string]>([
    ['the sender names only a relay, with --direct-only', [RELAY], { directOnly: true }, 'also waits at a relay'],
    [
      'the sender names no relay, with --relay-only',
      [{ ...RELAY, transport: 'direct' }],
      { relayOnly: true },
      'waits at no relay',
    ],
  ])('is not reached if %s', async (_name, candidates, reach, sentence) => {
    const failing = dial(candidates, reach);
    await expect(failing).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: expect.stringContaining(sentence),
    });
    expect(((await failing.catch((error) => error)) as KeibiError).detail).toEqual({ attempts: [] });
  });
});
