// SPDX-License-Identifier: MPL-2.0
import { createDecipheriv, createHash, createHmac } from 'node:crypto';
import { expand, laneKey, nextEpochKey, type SuiteName } from '../hostile/lane-keys.ts';

const LABELS: Record<SuiteName, string> = {
  'aes-256-gcm': 'KeibiDrop-AES-256-GCM-SEK',
  'chacha20-poly1305': 'KeibiDrop-ChaCha20-Poly1305-SEK',
};

/** The secrets of one side after the handshake; all keys follow from them by PROTOCOL 3. */
export interface HandshakeSecrets {
  /** M1 and M2 as sent over the wire, length fields included. */
  m1: Buffer;
  m2: Buffer;
  x25519: Uint8Array;
  kem: Uint8Array;
  auth: Uint8Array;
  suite: SuiteName;
}

/** The keys of a session, derived here from the text of PROTOCOL 3 alone. */
export function sessionKeysOf({ m1, m2, x25519, kem, auth, suite }: HandshakeSecrets) {
  const transcript = createHash('sha512')
    .update('KeibiDrop handshake v1')
    .update('KEIBI-C1')
    .update(m1)
    .update(m2.subarray(0, m2.length - 32))
    .digest();
  const prk = createHmac('sha512', transcript)
    .update(Buffer.concat([x25519, kem, auth]))
    .digest();
  const laneSecret = expand(prk, 'KeibiDrop lanes', 32);
  return {
    control: (writer: 'initiator' | 'responder') => expand(prk, `${LABELS[suite]} control ${writer}`, 32),
    lane: (writer: 'initiator' | 'responder', lane: number) => laneKey(laneSecret, suite, writer, lane),
    sessionId: expand(prk, 'KeibiDrop session', 16),
  };
}

/** One opened frame: its key, nonce and epoch, and the bytes it held. */
export interface OpenedFrame {
  key: string;
  nonce: string;
  epoch: number;
  bytes: number;
}

/**
 * Opens the frames of one direction of one connection with node:crypto.
 * @throws if a frame does not open or is out of order
 */
export function openAll(frames: readonly Buffer[], firstKey: Buffer, suite: SuiteName): OpenedFrame[] {
  let key = firstKey;
  let at = 0;
  return frames.map((frame, i) => {
    const nonce = frame.subarray(4, 16);
    const epoch = nonce.readUInt32BE(0);
    if (Number(nonce.readBigUInt64BE(4)) !== i)
      throw new Error(`frame ${i} has the counter ${nonce.readBigUInt64BE(4)}`);
    if (epoch !== at && epoch !== at + 1) throw new Error(`frame ${i} jumps from epoch ${at} to ${epoch}`);
    if (epoch === at + 1) key = nextEpochKey(key);
    at = epoch;
    const cipher =
      suite === 'aes-256-gcm'
        ? createDecipheriv('aes-256-gcm', key, nonce)
        : createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
    const ciphertext = frame.subarray(16, frame.length - 16);
    cipher.setAAD(frame.subarray(0, 4), { plaintextLength: ciphertext.length });
    cipher.setAuthTag(frame.subarray(frame.length - 16));
    const opened = Buffer.concat([cipher.update(ciphertext), cipher.final()]);
    return { key: key.toString('hex'), nonce: nonce.toString('hex'), epoch, bytes: opened.length };
  });
}
