// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import type { FoundSourceLock, SourceChange, SourceLock } from './mount-source.ts';

// The messages between the Peer and the mount host; native/src/mount/host_protocol.h draws them.

/** Messages of the host. `request` links a request to its answer. */
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
  | { type: 'fetch'; request: number; files: { key: string; size: number; mtimeNs: bigint; path: string }[] }
  | { type: 'release' | 'leave'; key: string }
  | { type: 'space'; request: number }
  | { type: 'busy' | 'lost'; unsent: number }
  | { type: 'stop'; request: number }
  | FromLocker
  | FromWriter;

/** The host's lock requests. */
export type FromLocker =
  | ({ type: 'lock' | 'testLock'; request: number; path: string } & SourceLock)
  | { type: 'unlock'; request: number; holder: number; start: number; length: number };

/** The host's change requests. */
export type FromWriter =
  | {
      type: 'make';
      request: number;
      entry: 'file' | 'directory' | 'symlink';
      mode: number;
      path: string;
      target: string;
    }
  | { type: 'remove'; request: number; path: string; directory: boolean }
  | { type: 'rename'; request: number; from: string; to: string; how: 'replace' | 'keep' | 'exchange' }
  | { type: 'change'; request: number; path: string; mode?: number; mtimeNs?: bigint }
  | { type: 'copy'; request: number; from: string; to: string }
  | { type: 'getAttribute' | 'removeAttribute'; request: number; path: string; name: string }
  | {
      type: 'setAttribute';
      request: number;
      path: string;
      name: string;
      value: Uint8Array;
      how: 'any' | 'new' | 'old';
    }
  | { type: 'listAttributes' | 'syncDirectory'; request: number; path: string }
  | {
      type: 'put';
      request: number;
      token: string;
      size: number;
      mtimeNs: bigint;
      base: { size: number; mtimeNs: bigint };
      keep: number;
      sync: boolean;
      ranges: { offset: number; length: number }[];
      path: string;
    };

const HEAD_BYTES = 9;
const MAX_MESSAGE_BYTES = 2 ** 20;
const KEY_BYTES = 32;
const CHANGES = { made: 1, changed: 2, removed: 3 } as const;
const TYPES = {
  done: 0x81,
  page: 0x82,
  changes: 0x83,
  watched: 0x84,
  away: 0x85,
  unmount: 0x86,
  locksLost: 0x87,
} as const;

/** Cuts what comes from the host into messages. @throws INTERNAL for anything that the host never says */
export class HostMessages {
  readonly #cut = cutMessages(parse);

  take(bytes: Buffer): Generator<FromHost> {
    return this.#cut(bytes);
  }
}

/** Cuts bytes, as they come, into messages of either side. @throws INTERNAL for a length that none has */
export function cutMessages<T>(
  parseOne: (type: number, request: number, body: Buffer) => T,
): (bytes: Buffer) => Generator<T> {
  let rest: Buffer = Buffer.alloc(0);
  return function* take(bytes) {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32BE(0);
      if (length < HEAD_BYTES - 4 || length > MAX_MESSAGE_BYTES) throw malformed();
      if (rest.length < 4 + length) return;
      const message = rest.subarray(4, 4 + length);
      rest = rest.subarray(4 + length);
      yield parseOne(message.readUInt8(0), message.readUInt32BE(1), message.subarray(HEAD_BYTES - 4));
    }
  };
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
        return { type: 'busy', unsent: body.readUInt32BE(0) };
      case 9:
        return { type: 'lost', unsent: body.readUInt32BE(0) };
      case 21:
        return { type: 'stop', request: body.readUInt32BE(0) };
      case 22:
        return { type: 'fetch', request, files: [...filesOf(body)] };
      case 23:
        return { type: 'leave', key: body.toString('latin1') };
      case 24:
      case 26:
        return { type: type === 24 ? 'lock' : 'testLock', request, ...parseLock(body) };
      case 25:
        return { type: 'unlock', request, holder: body.readUInt32BE(0), ...spanOf(body.subarray(4)) };
    }
    const change = parseChange(type, request, body);
    if (change !== undefined) return change;
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

function parseLock(body: Buffer) {
  const kind = at(['', 'shared', 'exclusive'] as const, body.readUInt8(9));
  if (kind === '') throw malformed();
  return {
    owner: new Uint8Array(body.subarray(0, 8)),
    whole: body.readUInt8(8) === 1,
    kind,
    ...spanOf(body.subarray(10)),
    path: body.toString('utf8', 26),
  };
}

/** No file is longer than a safe integer. */
function spanOf(body: Buffer): { start: number; length: number } {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  const [start, end] = [body.readBigUInt64BE(0), body.readBigUInt64BE(8)];
  if (start >= most) return { start: Number.MAX_SAFE_INTEGER - 1, length: 0 };
  return { start: Number(start), length: end > most ? 0 : Number(end - start) };
}

function* filesOf(body: Buffer) {
  for (let rest = body; rest.length > 0; ) {
    const [path = rest, behind = rest] = texts(rest.subarray(KEY_BYTES + 16), 1);
    yield {
      key: rest.toString('latin1', 0, KEY_BYTES),
      size: Number(rest.readBigUInt64BE(KEY_BYTES)),
      mtimeNs: rest.readBigInt64BE(KEY_BYTES + 8),
      path: path.toString('utf8'),
    };
    rest = behind;
  }
}

function parseChange(type: number, request: number, body: Buffer): FromWriter | undefined {
  switch (type) {
    case 10: {
      const entry = at(['', 'file', 'directory', 'symlink'] as const, body.readUInt8(0));
      if (entry === '') throw malformed();
      const [path, target] = texts(body.subarray(3), 1);
      return { type: 'make', request, entry, mode: body.readUInt16BE(1), path: `${path}`, target: `${target}` };
    }
    case 11:
      return { type: 'remove', request, directory: body.readUInt8(0) === 1, path: body.toString('utf8', 1) };
    case 12: {
      const [from, to] = texts(body.subarray(1), 1);
      const how = at(['replace', 'keep', 'exchange'] as const, body.readUInt8(0));
      return { type: 'rename', request, how, from: `${from}`, to: `${to}` };
    }
    case 13: {
      const what = body.readUInt8(0);
      const mode = (what & 1) !== 0 ? { mode: body.readUInt16BE(1) } : {};
      const mtimeNs = (what & 2) !== 0 ? { mtimeNs: body.readBigInt64BE(3) } : {};
      return { type: 'change', request, path: body.toString('utf8', 11), ...mode, ...mtimeNs };
    }
    case 14: {
      const [from, to] = texts(body, 1);
      return { type: 'copy', request, from: `${from}`, to: `${to}` };
    }
    case 15:
    case 17: {
      const [path, name] = texts(body, 1);
      return { type: type === 15 ? 'getAttribute' : 'removeAttribute', request, path: `${path}`, name: `${name}` };
    }
    case 16: {
      const [path, name, value = Buffer.alloc(0)] = texts(body.subarray(1), 2);
      const how = at(['any', 'new', 'old'] as const, body.readUInt8(0));
      return { type: 'setAttribute', request, how, path: `${path}`, name: `${name}`, value };
    }
    case 18:
    case 19:
      return { type: type === 18 ? 'listAttributes' : 'syncDirectory', request, path: body.toString('utf8') };
    case 20:
      return { type: 'put', request, ...parsePut(body) };
  }
  return undefined;
}

function parsePut(body: Buffer) {
  const numbers = body.subarray(KEY_BYTES);
  const size = (offset: number) => Number(numbers.readBigUInt64BE(offset));
  const ranges = Array.from({ length: numbers.readUInt32BE(41) }, (_, i) => ({
    offset: size(45 + 16 * i),
    length: size(53 + 16 * i),
  }));
  return {
    token: body.toString('latin1', 0, KEY_BYTES),
    size: size(0),
    mtimeNs: numbers.readBigInt64BE(8),
    base: { size: size(16), mtimeNs: numbers.readBigInt64BE(24) },
    keep: size(32),
    sync: numbers.readUInt8(40) === 1,
    ranges,
    path: numbers.toString('utf8', 45 + 16 * ranges.length),
  };
}

/** Splits off `count` length-prefixed texts; the last part is the rest. */
function texts(body: Buffer, count: number): Buffer[] {
  const found: Buffer[] = [];
  let rest = body;
  for (let i = 0; i < count; i++) {
    const end = 2 + rest.readUInt16BE(0);
    if (rest.length < end) throw malformed();
    found.push(rest.subarray(2, end));
    rest = rest.subarray(end);
  }
  return [...found, rest];
}

function at<const T>(names: readonly T[], index: number): T {
  const name = names[index];
  if (name === undefined) throw malformed();
  return name;
}

/** The end of an answer: an errno, 0 on success, and the numbers that the request asked for. */
export function encodeDone(request: number, systemError: number, ...numbers: (number | bigint)[]): Buffer {
  const body = numbers.map((value) => {
    const bytes = Buffer.alloc(typeof value === 'bigint' ? 8 : 4);
    if (typeof value === 'bigint') bytes.writeBigInt64BE(value);
    else bytes.writeUInt32BE(value);
    return bytes;
  });
  return encode('done', request, uint32(systemError), ...body);
}

/** A part of an answer. @param page  entries as in a manifest, or the request's own format */
export function encodePage(request: number, page: Uint8Array): Buffer {
  return encode('page', request, page);
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

/** Another owner's lock; kind 0 means none. */
export function encodeFoundLock(request: number, found: FoundSourceLock | undefined): Buffer {
  const { kind, start, length } = found ?? { kind: undefined, start: 0, length: 0 };
  const end = length === 0 ? 2n ** 63n - 1n : BigInt(start + length);
  return encodeDone(request, 0, kind === undefined ? 0 : kind === 'shared' ? 1 : 2, BigInt(start), end);
}

/** The source has released all locks. */
export function encodeLocksLost(): Buffer {
  return encode('locksLost', 0);
}

/**
 * `watched`: changes are reported from now on, earlier ones may be missed. `away`: the other peer is away. `unmount`:
 * true to force it.
 */
export function encodeFlag(type: 'watched' | 'away' | 'unmount', flag: boolean): Buffer {
  return encode(type, 0, Uint8Array.of(Number(flag)));
}

function encode(type: keyof typeof TYPES, request: number, ...body: Uint8Array[]): Buffer {
  return encodeMessage(TYPES[type], request, ...body);
}

export function encodeMessage(type: number, request: number, ...body: Uint8Array[]): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  const message = Buffer.concat([head, ...body]);
  message.writeUInt32BE(message.length - 4, 0);
  message.writeUInt8(type, 4);
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
