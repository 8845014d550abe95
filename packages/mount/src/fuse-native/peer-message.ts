// SPDX-License-Identifier: MPL-2.0
import { cutMessages, encodeMessage } from '../host-message.ts';
import type { SourceChange } from '../mount-source.ts';

// The host's side of what it and the Peer tell each other; native/src/mount/host_protocol.h draws it.

export type FromPeer =
  | { type: 'done'; request: number; systemError: number; body: Buffer }
  | { type: 'page'; request: number; body: Buffer }
  | { type: 'changes'; changes: SourceChange[] }
  | { type: 'watched' | 'away' | 'unmount'; flag: boolean };

/** The host's messages, by number. */
export const SAYS = {
  mounted: 1,
  failed: 2,
  list: 3,
  look: 4,
  want: 5,
  release: 6,
  space: 7,
  busy: 8,
  lost: 9,
  make: 10,
  remove: 11,
  rename: 12,
  change: 13,
  copy: 14,
  getAttribute: 15,
  setAttribute: 16,
  removeAttribute: 17,
  listAttributes: 18,
  syncDirectory: 19,
  put: 20,
} as const;

export type Says = keyof typeof SAYS;

const KINDS = ['', 'made', 'changed', 'removed'] as const;

/** Cuts what comes from the Peer into messages. @throws for anything that it never says */
export class PeerMessages {
  readonly #cut = cutMessages(parse);

  take(bytes: Buffer): Generator<FromPeer> {
    return this.#cut(bytes);
  }
}

function parse(type: number, request: number, body: Buffer): FromPeer {
  switch (type) {
    case 0x81:
      return { type: 'done', request, systemError: body.readUInt32BE(0), body: body.subarray(4) };
    case 0x82:
      return { type: 'page', request, body };
    case 0x83:
      return { type: 'changes', changes: parseChanges(body) };
    case 0x84:
      return { type: 'watched', flag: body.readUInt8(0) === 1 };
    case 0x85:
      return { type: 'away', flag: body.readUInt8(0) === 1 };
    case 0x86:
      return { type: 'unmount', flag: body.readUInt8(0) === 1 };
  }
  throw new RangeError(`The Peer said ${type}.`);
}

function parseChanges(body: Buffer): SourceChange[] {
  const changes: SourceChange[] = [];
  for (let at = 0; at < body.length; ) {
    const kind = KINDS[body.readUInt8(at)];
    const end = at + 3 + body.readUInt16BE(at + 1);
    if (!kind || end > body.length) throw new RangeError('The Peer told a change that is none.');
    changes.push({ kind, path: body.toString('utf8', at + 3, end) });
    at = end;
  }
  return changes;
}

export function encodeSaid(type: Says, request: number, body: Uint8Array): Buffer {
  return encodeMessage(SAYS[type], request, body);
}

/** Puts the body of a message together. */
export class Body {
  readonly #parts: Uint8Array[] = [];

  u8(value: number): this {
    return this.bytes(Uint8Array.of(value));
  }

  u16(value: number): this {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16BE(value);
    return this.bytes(bytes);
  }

  u32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return this.bytes(bytes);
  }

  /** A size, or a time. */
  i64(value: number | bigint): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value));
    return this.bytes(bytes);
  }

  /** With its length before it. */
  text(text: string): this {
    const bytes = Buffer.from(text);
    return this.u16(bytes.length).bytes(bytes);
  }

  /** To the end. */
  rest(text: string): this {
    return this.bytes(Buffer.from(text));
  }

  bytes(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    return this;
  }

  take(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
