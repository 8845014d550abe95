// SPDX-License-Identifier: MPL-2.0
import { MAX_MAILBOX_BODY_BYTES } from '@keibidrop/protocol';

/** Length of the id of a conversation between two servers, and of a server's id. */
const ID_BYTES = 16;
const MAILBOX_BYTES = 32;
const KINDS = { enter: 1, entered: 2, body: 3, left: 4, takenOver: 5 } as const;

/**
 * A message between servers that share mailboxes, sent to the receiver's own channel in Redis. Ids are lower hex.
 *
 *   0      1                  17
 *   | kind | conversation 16  | fields of the kind |
 *
 * The guest's server begins with `enter`; the owner's server answers `entered` or `left`. Bodies run both ways until either sends `left`.
 */
export type ServerMessage =
  /** kind 1, adds the asking server 16 and mailbox 32 */
  | { readonly kind: 'enter'; readonly conversation: string; readonly server: string; readonly mailbox: string }
  /** kind 2 */
  | { readonly kind: 'entered'; readonly conversation: string }
  /** kind 3, adds the body */
  | { readonly kind: 'body'; readonly conversation: string; readonly body: Uint8Array }
  /** kind 4, adds a byte: 1 if the mailbox is full, else 0 */
  | { readonly kind: 'left'; readonly conversation: string; readonly full: boolean }
  /** kind 5, without a conversation (zeros), adds the mailbox: its owner has moved to another server */
  | { readonly kind: 'takenOver'; readonly mailbox: string };

export function encodeServerMessage(message: ServerMessage): Buffer {
  const conversation = message.kind === 'takenOver' ? '00'.repeat(ID_BYTES) : message.conversation;
  return Buffer.concat([Buffer.of(KINDS[message.kind]), Buffer.from(conversation, 'hex'), restOf(message)]);
}

function restOf(message: ServerMessage): Uint8Array {
  switch (message.kind) {
    case 'enter':
      return Buffer.from(message.server + message.mailbox, 'hex');
    case 'entered':
      return Buffer.alloc(0);
    case 'body':
      return message.body;
    case 'left':
      return Buffer.of(message.full ? 1 : 0);
    case 'takenOver':
      return Buffer.from(message.mailbox, 'hex');
  }
}

/** Undefined for bytes of another version, or of another program with access to Redis. */
export function tryDecodeServerMessage(bytes: Buffer): ServerMessage | undefined {
  const conversation = bytes.toString('hex', 1, 1 + ID_BYTES);
  const rest = bytes.subarray(1 + ID_BYTES);
  switch (bytes[0]) {
    case KINDS.enter: {
      if (rest.length !== ID_BYTES + MAILBOX_BYTES) return undefined;
      const server = rest.toString('hex', 0, ID_BYTES);
      return { kind: 'enter', conversation, server, mailbox: rest.toString('hex', ID_BYTES) };
    }
    case KINDS.entered:
      return rest.length === 0 ? { kind: 'entered', conversation } : undefined;
    case KINDS.body:
      return rest.length <= MAX_MAILBOX_BODY_BYTES ? { kind: 'body', conversation, body: rest } : undefined;
    case KINDS.left:
      return rest.length === 1 ? { kind: 'left', conversation, full: rest[0] === 1 } : undefined;
    case KINDS.takenOver:
      return rest.length === MAILBOX_BYTES ? { kind: 'takenOver', mailbox: rest.toString('hex') } : undefined;
    default:
      return undefined;
  }
}
