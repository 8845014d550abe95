// SPDX-License-Identifier: MPL-2.0

/** One entry as a hostile peer may write it, without checks (PROTOCOL 6). */
export interface RawEntry {
  type?: number;
  mode?: number;
  parent?: number;
  mtimeNs?: bigint;
  size?: bigint;
  name?: string | Uint8Array;
  target?: string | Uint8Array;
}

export const FILE = 1;
export const DIRECTORY = 2;
export const SYMLINK = 3;
export const TOP = 0xffffffff;

/** Encoded entries in sequence, as in a page. */
export function rawPage(entries: readonly RawEntry[]): Uint8Array {
  return Buffer.concat(entries.map(rawEntry));
}

function rawEntry(entry: RawEntry): Buffer {
  const {
    type = FILE,
    mode = 0o644,
    parent = TOP,
    mtimeNs = 1_700_000_000_000_000_000n,
    size = 0n,
    name = 'a',
    target,
  } = entry;
  const head = Buffer.alloc(23);
  head.writeUInt8(type, 0);
  head.writeUInt16BE(mode, 1);
  head.writeUInt32BE(parent, 3);
  head.writeBigInt64BE(mtimeNs, 7);
  head.writeBigUInt64BE(size, 15);
  return Buffer.concat([head, text(name), ...(target === undefined ? [] : [text(target)])]);
}

function text(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
