// SPDX-License-Identifier: MPL-2.0
import { GUEST_SECRET_BYTES } from '@keibidrop/session';

// The format of a share's guests on the disk, before sealing: one record after another.
//
// | used, milliseconds since 1970 8 | secrets 1 | each 32 |

/** Per guest: the secret that it is known to hold, and later ones that may have reached it. */
export const MAX_GUEST_SECRETS = 4;
const HEADER_BYTES = 9;
/** The longest record. */
export const KNOWN_GUEST_BYTES = HEADER_BYTES + MAX_GUEST_SECRETS * GUEST_SECRET_BYTES;

export interface KnownGuestRecord {
  /** Milliseconds since 1970. */
  readonly used: number;
  /** 1 to MAX_GUEST_SECRETS. */
  readonly secrets: readonly Uint8Array[];
}

export function encodeKnownGuests(records: readonly KnownGuestRecord[]): Uint8Array {
  const length = records.reduce((sum, { secrets }) => sum + HEADER_BYTES + secrets.length * GUEST_SECRET_BYTES, 0);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { used, secrets } of records) {
    view.setBigUint64(at, BigInt(used));
    view.setUint8(at + HEADER_BYTES - 1, secrets.length);
    at += HEADER_BYTES;
    for (const secret of secrets) {
      bytes.set(secret, at);
      at += GUEST_SECRET_BYTES;
    }
  }
  return bytes;
}

/** The records, with copied secrets; undefined if `bytes` are invalid. */
export function decodeKnownGuests(bytes: Uint8Array): KnownGuestRecord[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: KnownGuestRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < HEADER_BYTES) return undefined;
    const used = view.getBigUint64(at);
    const count = view.getUint8(at + HEADER_BYTES - 1);
    at += HEADER_BYTES;
    const end = at + count * GUEST_SECRET_BYTES;
    const possible = used <= Number.MAX_SAFE_INTEGER && count >= 1 && count <= MAX_GUEST_SECRETS;
    if (!possible || end > bytes.length) return undefined;
    const secrets: Uint8Array[] = [];
    for (; at < end; at += GUEST_SECRET_BYTES) secrets.push(bytes.slice(at, at + GUEST_SECRET_BYTES));
    records.push({ used: Number(used), secrets });
  }
  return records;
}
