// SPDX-License-Identifier: MPL-2.0
import { createPrivateKey, createPublicKey, diffieHellman, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareHandshake } from '../../packages/session/src/index.ts';
import { Command } from '../hostile/command.ts';
import { HostileReceiver } from '../hostile/hostile-receiver.ts';
import { CODE } from '../hostile/hostile-sender.ts';
import type { SuiteName } from '../hostile/lane-keys.ts';
import { offeredFiles } from '../hostile/offered-files.ts';
import { type OpenedFrame, openAll, sessionKeysOf } from './independent-keys.ts';
import { ManInTheMiddle, type Recorded, unitsOf } from './man-in-the-middle.ts';

const MEBIBYTE = 2 ** 20;
const LANES = 3;
const CHUNKS = 24;
const SMALL = Array.from({ length: 300 }, (_, i) => 1000 + 13 * i);
const SMALL_BYTES = SMALL.reduce((sum, bytes) => sum + bytes, 0);

/** DER heads of a raw X25519 key (RFC 8410). */
const PRIVATE_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex');
const PUBLIC_HEAD = Buffer.from('302a300506032b656e032100', 'hex');

function x25519(secret: Uint8Array, share: Uint8Array): Buffer {
  const privateKey = createPrivateKey({ key: Buffer.concat([PRIVATE_HEAD, secret]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey({ key: Buffer.concat([PUBLIC_HEAD, share]), format: 'der', type: 'spki' });
  return diffieHellman({ privateKey, publicKey });
}

/**
 * Runs a transfer of many chunks and small files from the real sender, rekeying at 1 MiB. Returns the recorded wire and
 * the secrets of one side.
 */
async function recordedRun(suite: SuiteName) {
  const root = await mkdtemp(join(tmpdir(), 'keibidrop-keys-'));
  await mkdir(join(root, 'offer'));
  await writeFile(join(root, 'offer', 'large'), randomBytes(CHUNKS * MEBIBYTE + 77));
  for (const [i, bytes] of SMALL.entries()) await writeFile(join(root, 'offer', `small-${i}`), randomBytes(bytes));
  const listen = ['--json', '--code', CODE, '--listen', '127.0.0.1:0', '--suite', suite];
  const sender = new Command(['send', join(root, 'offer'), ...listen], {
    home: root,
    env: { KD_REKEY_BYTES: String(MEBIBYTE) },
  });
  let proxy: ManInTheMiddle | undefined;
  let receiver: HostileReceiver | undefined;
  try {
    const { port } = await sender.shows('waiting');
    proxy = await ManInTheMiddle.open(Number(port));
    const prepared = await prepareHandshake('initiator');
    const own = { x25519: prepared.x25519.secret.slice(), kem: prepared.kemKeys?.secretKey.slice() as Uint8Array };
    receiver = await HostileReceiver.reach(proxy.port, CODE, { suite, prepared });
    await receiver.say({ $case: 'hello', value: { label: 'test' } });
    const { count, wanted } = await offeredFiles(receiver);
    const lanes: Socket[] = [];
    for (let lane = 0; lane < LANES; lane++) lanes.push(await receiver.lane(lane));
    const all = new Promise<void>((resolve) => {
      let bytes = 0;
      const onData = (data: Buffer) => {
        bytes += data.length;
        if (bytes >= SMALL_BYTES + CHUNKS * MEBIBYTE + 77) resolve();
      };
      for (const lane of lanes) lane.on('data', onData);
    });
    await receiver.answer(0, count, wanted);
    await all;
    // The sender ends its lanes after the receiver has reported that it has everything.
    const ended = lanes.map((lane) => new Promise((resolve) => lane.once('end', resolve)));
    await receiver.say({ $case: 'finished', value: { files: 301, bytes: 1, skipped: 0, resumedBytes: 0, failed: 0 } });
    await Promise.all(ended);
    const { exit } = await sender.ended;
    const [control] = proxy.of('control') as [Recorded];
    const [, m1] = unitsOf(control, 'fromReceiver', control.fromReceiver) as [Buffer, Buffer];
    const [m2] = unitsOf(control, 'fromSender', control.fromSender) as [Buffer];
    const kem = prepared.kem.decapsulate(m2.subarray(8 + 32, 8 + 32 + 1568), own.kem);
    const shared = x25519(own.x25519, m2.subarray(8, 8 + 32));
    return {
      exit,
      proxy,
      control,
      secrets: { m1, m2, x25519: shared, kem, auth: receiver.auth, suite },
      sessionId: receiver.keys.sessionId,
    };
  } finally {
    receiver?.close();
    await sender.kill();
    await proxy?.close();
    await rm(root, { recursive: true, force: true });
  }
}

describe.each(['aes-256-gcm', 'chacha20-poly1305'] as const)(
  'every frame of a run with %s that rekeys at 1 MiB',
  (suite) => {
    it('opens under the keys of PROTOCOL, no key is used twice with one nonce, and all keys differ', async () => {
      const { exit, proxy, control, secrets, sessionId } = await recordedRun(suite);
      expect(exit).toBe(0);
      const keys = sessionKeysOf(secrets);
      expect(keys.sessionId.equals(sessionId)).toBe(true);

      const [, , , ...up] = unitsOf(control, 'fromReceiver', control.fromReceiver);
      const [, ...down] = unitsOf(control, 'fromSender', control.fromSender);
      const directions: OpenedFrame[][] = [
        openAll(up, keys.control('initiator'), suite),
        openAll(down, keys.control('responder'), suite),
      ];
      const lanes = proxy.of('lane');
      expect(lanes).toHaveLength(LANES);
      for (const lane of lanes) {
        const [head, ...hello] = unitsOf(lane, 'fromReceiver', lane.fromReceiver) as [Buffer, ...Buffer[]];
        const number = head.readUInt32BE(24);
        directions.push(openAll(hello, keys.lane('initiator', number), suite));
        const data = openAll(unitsOf(lane, 'fromSender', lane.fromSender), keys.lane('responder', number), suite);
        expectEpochsOf(data, MEBIBYTE);
        directions.push(data);
      }

      const frames = directions.flat();
      expect(frames.reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThan(CHUNKS * MEBIBYTE);
      expect(new Set(frames.map(({ key, nonce }) => `${key} ${nonce}`)).size).toBe(frames.length);
      // Each direction has one key per epoch.
      const epochs = directions.map((direction) => new Set(direction.map(({ epoch }) => epoch)).size);
      expect(Math.max(...epochs)).toBeGreaterThan(4);
      expect(new Set(frames.map(({ key }) => key)).size).toBe(epochs.reduce((sum, count) => sum + count, 0));
    });
  },
);

/** Expects each epoch except the last to end exactly with the frame that fills it. */
function expectEpochsOf(frames: OpenedFrame[], limit: number): void {
  const last = frames.at(-1)?.epoch ?? 0;
  for (let epoch = 0; epoch <= last; epoch++) {
    const bytes = frames.filter((frame) => frame.epoch === epoch).map((frame) => frame.bytes);
    const sum = bytes.reduce((total, one) => total + one, 0);
    expect(sum - (bytes.at(-1) ?? 0)).toBeLessThan(limit);
    if (epoch < last) expect(sum).toBeGreaterThanOrEqual(limit);
  }
}
