// SPDX-License-Identifier: MPL-2.0
import type { ChangeNotice, InfoReply, ListPage } from '@keibidrop/proto';
import {
  checkName,
  checkSharePath,
  decodePage,
  type Entry,
  KeibiError,
  MAX_MANIFEST_BYTES,
  MAX_NOTICE_CHANGES,
  ManifestGuard,
  messageFor,
  TOP,
} from '@keibidrop/protocol';
import { checkedLabel } from '@keibidrop/transfer';
import { SHARE_ID_BYTES } from './share-identity.ts';

// What a guest is told about a share, checked: everything here comes from the peer.

/** One file, directory or symlink of a share. */
export interface ShareEntry {
  type: 'file' | 'directory' | 'symlink';
  name: string;
  /** Bytes of a file; 0 for anything else. */
  size: number;
  /** Nanoseconds since 1970. */
  mtimeNs: bigint;
  /** Permission bits, 0 to 0o777. */
  mode: number;
  /** Where a symlink points, which is never followed. */
  target?: string;
}

/** What a share says of itself. */
export interface ShareInfo {
  /** What the peer calls itself: a claim of the peer's, to be made harmless before it is shown. */
  peer: string;
  /** What the folder is called. */
  name: string;
  readOnly: boolean;
  /** Its files can be read in place. */
  reads: boolean;
  /** And what is in it can be changed. */
  writes: boolean;
  /** The same each time that this is shared, in hexadecimal digits; empty if it is not told. */
  id: string;
  /** Names this guest's locks at the peer: another number than before stands for none of the old ones. Absent: the peer takes no locks. */
  locks: number | undefined;
}

/** Something in a share has changed. */
export interface ShareChange {
  /** `made`, `removed`: of a directory with all that is, or was, below it. */
  kind: 'made' | 'changed' | 'removed';
  path: string;
}

/** What has changed since the notice before. */
export interface ShareNotice {
  changes: ShareChange[];
  /** More has changed than is told: everything may have. Also after a session that was lost. */
  lookAgain: boolean;
  /** Changes in a part of the share are not told at all. */
  incomplete: boolean;
}

const KINDS: readonly (ShareChange['kind'] | undefined)[] = [undefined, 'made', 'changed', 'removed'];

/** @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED, HANDSHAKE_MALFORMED */
export function checkedInfo({ label, name, readOnly, reads, writes, id, locks }: InfoReply): ShareInfo {
  const checked = { peer: checkedLabel(label), name: checkName(name, { top: true, entry: 0 }) };
  if (id.length !== 0 && id.length !== SHARE_ID_BYTES) throw malformed('what a share is');
  const told = { readOnly, reads, writes: reads && writes && !readOnly, locks };
  return { ...checked, ...told, id: Buffer.from(id).toString('hex') };
}

/**
 * The entry that was asked for.
 *
 * @param name  under which it must come
 * @throws      HANDSHAKE_MALFORMED if it is another or several; TRANSFER_*
 */
export function checkedEntry(bytes: Uint8Array, name: string): ShareEntry {
  const [entry, ...more] = decodePage(bytes, 0);
  if (entry === undefined || more.length > 0 || entry.name !== name) throw malformed('an entry');
  return shareEntry(entry);
}

/** Checks the pages of one listing as they come: no name twice, no more entries than a transfer may have. */
export class ListingCheck {
  readonly #guard = new ManifestGuard({ foldNames: false });
  #bytes = 0;
  leftOut = 0;

  /** @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED; HANDSHAKE_MALFORMED for what is no entry of a directory */
  add({ entries: bytes, leftOut }: ListPage): ShareEntry[] {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_MANIFEST_BYTES) throw new KeibiError('TRANSFER_LIMIT_EXCEEDED');
    const entries = decodePage(bytes, this.#guard.entries);
    const checked = entries.map(shareEntry);
    this.#guard.addPage(entries);
    this.leftOut += leftOut;
    return checked;
  }
}

/** @throws HANDSHAKE_MALFORMED, SHARE_PATH_REFUSED */
export function checkedNotice({ changes, lookAgain, incomplete }: ChangeNotice): ShareNotice {
  if (changes.length > MAX_NOTICE_CHANGES) throw malformed('a notice');
  const checked = changes.map(({ kind, path }) => {
    const known = KINDS[kind];
    if (known === undefined || path === '') throw malformed('a change');
    return { kind: known, path: checkSharePath(path) };
  });
  return { changes: checked, lookAgain, incomplete };
}

function shareEntry({ type, parent, name, size, mtimeNs, mode, target }: Entry): ShareEntry {
  if (parent !== TOP || type === 'stream') throw malformed('an entry');
  return { type, name, size, mtimeNs, mode, ...(target !== undefined && { target }) };
}

function malformed(what: string): KeibiError {
  return new KeibiError(
    'HANDSHAKE_MALFORMED',
    messageFor('HANDSHAKE_MALFORMED', `The share told ${what} that is none`),
  );
}
