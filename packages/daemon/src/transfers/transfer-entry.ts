// SPDX-License-Identifier: MPL-2.0
import type { ConnectedEvent } from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';

/** A client's request for a transfer. */
export type Order = { kind: 'send'; request: local.SendRequest } | { kind: 'receive'; request: local.ReceiveRequest };

/** The part of a transfer that outlives the daemon. */
export type TransferEntry = Order & {
  id: number;
  added: number;
  /** The user has paused it. */
  paused: boolean;
  /** For a send: its code, which stays the same. */
  code?: string | undefined;
  /** For a receive: the accepted offer. */
  accepted?: string | undefined;
  /** For a receive: its destination. */
  place?: string | undefined;
  /** For a receive: the contact that sends it. */
  contact?: string | undefined;
  /** For a receive: the size that the user accepted before the offer came. */
  agreed?: { files: number; bytes: number } | undefined;
  /** For a receive: the paths that it takes from a share. Its code is valid for one run. */
  pull?: string[] | undefined;
  /** For a receive: a text that no client has shown yet, with its time and sender. */
  unread?: { at: number; from: ConnectedEvent | undefined } | undefined;
};

/**
 * queued: not begun yet. waiting: for a peer. running: bytes move. paused: by this side, or by every peer. asking: the user
 * must answer. done, failed, cancelled: it has ended.
 */
export type TransferState = 'queued' | 'waiting' | 'running' | 'paused' | 'asking' | 'done' | 'failed' | 'cancelled';

/** A receive that a contact has invited us to. Without `out` it goes to the folder of the settings. */
export interface InvitedReceive extends Pick<local.ReceiveRequest, 'code' | 'out' | 'beneath' | 'owner'> {
  contact: string;
  /** The size that the user has seen and accepted; undefined accepts any. */
  agreed: TransferEntry['agreed'];
}
