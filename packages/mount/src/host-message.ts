// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { SourceChange } from './mount-source.ts';

// What the Peer and the mount host tell each other; native/src/mount/message.h says the same and draws it.

/** What the host tells. `request` of a question names its answer. */
export type FromHost =
  | { type: 'mounted' }
  | { type: 'failed'; systemError: number; reason: string }
  | { type: 'list' | 'look'; request: number; path: string }
  | {
      type: 'want';
      request: number;
      key: string;
      size: number;
      mtimeNs: bigint;
      first: number;
      count: number;
      ahead: number;
      path: string;
    }
  | { type: 'release'; key: string }
  | { type: 'space'; request: number }
  | { type: 'busy' };

const HEAD_BYTES = 9;
const MAX_MESSAGE_BYTES = 2 ** 20;
const KEY_BYTES = 32;
const CHANGES = { made: 1, changed: 2, removed: 3 } as const;
const TYPES = { done: 0x81, page: 0x82, changes: 0x83, watched: 0x84, away: 0x85, unmount: 0x86 } as const;

/** Cuts what comes from the host into messages. @throws INTERNAL for anything that the host never says */
export class HostMessages {
  #rest: Buffer = Buffer.alloc(0);

  *take(bytes: Buffer): Generator<FromHost> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= HEAD_BYTES) {
      const length = this.#rest.readUInt32BE(0);
      if (length < HEAD_BYTES - 4 || length > MAX_MESSAGE_BYTES) throw malformed();
      if (this.#rest.length < 4 + length) return;
      const message = this.#rest.subarray(4, 4 + length);
      this.#rest = this.#rest.subarray(4 + length);
      yield parse(message.readUInt8(0), message.readUInt32BE(1), message.subarray(HEAD_BYTES - 4));
    }
  }
}

function parse(type: number, request: number, body: Buffer): FromHost {
  try {
    switch (type) {
      case 1:
        return { type: 'mounted' };
      case 2:
        return { type: 'failed', systemError: body.readUInt32BE(0), reason: body.toString('utf8', 4) };
      case 3:
        return { type: 'list', request, path: body.toString('utf8') };
      case 4:
        return { type: 'look', request, path: body.toString('utf8') };
      case 5:
        return { type: 'want', request, ...parseWant(body) };
      case 6:
        return { type: 'release', key: body.toString('latin1') };
      case 7:
        return { type: 'space', request };
      case 8:
        return { type: 'busy' };
    }
  } catch (cause) {
    throw malformed(cause);
  }
  throw malformed();
}

function parseWant(body: Buffer) {
  return {
    key: body.toString('latin1', 0, KEY_BYTES),
    size: Number(body.readBigUInt64BE(KEY_BYTES)),
    mtimeNs: body.readBigInt64BE(KEY_BYTES + 8),
    first: body.readUInt32BE(KEY_BYTES + 16),
    count: body.readUInt32BE(KEY_BYTES + 20),
    ahead: body.readUInt32BE(KEY_BYTES + 24),
    path: body.toString('utf8', KEY_BYTES + 28),
  };
}

/** The end of an answer: an errno, 0 if all went well, and the numbers that the question asked for. */
export function encodeDone(request: number, systemError: number, ...numbers: (number | bigint)[]): Buffer {
  const body = numbers.map((value) => {
    const bytes = Buffer.alloc(typeof value === 'bigint' ? 8 : 4);
    if (typeof value === 'bigint') bytes.writeBigUInt64BE(value);
    else bytes.writeUInt32BE(value);
    return bytes;
  });
  return encode('done', request, uint32(systemError), ...body);
}

/** A part of an answer. @param entries  as in a manifest */
export function encodeEntries(request: number, entries: Uint8Array): Buffer {
  return encode('page', request, entries);
}

export function encodeChanges(changes: readonly SourceChange[]): Buffer {
  const parts = changes.map(({ kind, path }) => {
    const text = Buffer.from(path);
    const head = Buffer.alloc(3);
    head.writeUInt8(CHANGES[kind], 0);
    head.writeUInt16BE(text.length, 1);
    return Buffer.concat([head, text]);
  });
  return encode('changes', 0, ...parts);
}

/** `watched`: changes are told from now on, and may have come before. `away`: the other peer is not there. `unmount`: true if at all costs. */
export function encodeFlag(type: 'watched' | 'away' | 'unmount', flag: boolean): Buffer {
  return encode(type, 0, Uint8Array.of(Number(flag)));
}

function encode(type: keyof typeof TYPES, request: number, ...body: Uint8Array[]): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  const message = Buffer.concat([head, ...body]);
  message.writeUInt32BE(message.length - 4, 0);
  message.writeUInt8(TYPES[type], 4);
  message.writeUInt32BE(request, 5);
  return message;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function malformed(cause?: unknown): KeibiError {
  return new KeibiError('INTERNAL', 'The mount host said something that it never says.', { cause });
}
