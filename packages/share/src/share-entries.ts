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
  type ShareChange,
  type ShareEntry,
  type ShareNotice,
  TOP,
} from '@keibidrop/protocol';
import { checkedLabel } from '@keibidrop/transfer';
import { SHARE_ID_BYTES } from './share-identity.ts';

// Checks of a share's answers to a guest: all of them come from the peer.

/** The share's description of itself. */
export interface ShareInfo {
  /** The peer's own name, unverified: sanitise it before it is shown. */
  peer: string;
  /** The name of the folder. */
  name: string;
  readOnly: boolean;
  /** Its files can be read in place. */
  reads: boolean;
  /** Its content can be changed. */
  writes: boolean;
  /** Hexadecimal, the same each time that this folder is shared; empty if the peer does not send it. */
  id: string;
  /**
   * Identifies this guest's locks at the peer: a new number means that all old ones are lost. Absent: the peer takes no
   * locks.
   */
  locks: number | undefined;
}

const KINDS: readonly (ShareChange['kind'] | undefined)[] = [undefined, 'replaced', 'changed', 'removed', 'created'];

/** @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED, HANDSHAKE_MALFORMED */
export function checkedInfo({ label, name, readOnly, reads, writes, id, locks }: InfoReply): ShareInfo {
  const checked = { peer: checkedLabel(label), name: checkName(name, { top: true, entry: 0 }) };
  if (id.length !== 0 && id.length !== SHARE_ID_BYTES) throw malformed('what a share is');
  const allowed = { readOnly, reads, writes: reads && writes && !readOnly, locks };
  return { ...checked, ...allowed, id: Buffer.from(id).toString('hex') };
}

/**
 * Decodes the entry that was asked for.
 *
 * @param name  the name that it must have
 * @throws      HANDSHAKE_MALFORMED if it has another name, or is not one entry; TRANSFER_*
 */
export function checkedEntry(bytes: Uint8Array, name: string): ShareEntry {
  const [entry, ...more] = decodePage(bytes, 0);
  if (entry === undefined || more.length > 0 || entry.name !== name) throw malformed('an entry');
  return shareEntry(entry);
}

/**
 * Checks the pages of one listing as they come: names are unique, and there are no more entries than a transfer allows.
 */
export class ListingCheck {
  readonly #guard = new ManifestGuard({ foldNames: false });
  #bytes = 0;
  leftOut = 0;

  /** @throws TRANSFER_PATH_REFUSED, TRANSFER_LIMIT_EXCEEDED; HANDSHAKE_MALFORMED for an invalid entry */
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
    messageFor('HANDSHAKE_MALFORMED', `The share allowed ${what} that is none`),
  );
}
