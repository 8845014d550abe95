// SPDX-License-Identifier: MPL-2.0
import { type Row, row } from './error-row.ts';

/** One row per code: whether a retry helps, the exit code of the command line (docs/cli.md), the gRPC status, the text. */
const table = {
  CODE_MALFORMED: row(
    'never',
    2,
    'INVALID_ARGUMENT',
    'That is not a code. A code is a number and two words or more, such as 7-guitar-pencil; check it with the sender.',
  ),
  CODE_TOO_WEAK: row(
    'never',
    2,
    'INVALID_ARGUMENT',
    'That code is too easy to guess. Leave out --code to get a good one, take four unusual words, or add --insecure-code.',
  ),
  CODE_WRONG: row(
    'never',
    3,
    'UNAUTHENTICATED',
    'The code is wrong. Check it with the sender and try again; after three wrong guesses the offer ends.',
  ),
  CODE_EXHAUSTED: row(
    'never',
    3,
    'PERMISSION_DENIED',
    'Too many wrong codes were tried, so the offer has ended. Send again and share the new code.',
  ),
  RENDEZVOUS_UNREACHABLE: row(
    'later',
    4,
    'UNAVAILABLE',
    'The rendezvous server cannot be reached. Check its address and the network, with keibidrop doctor, then try again.',
  ),
  RENDEZVOUS_BUSY: row('later', 4, 'RESOURCE_EXHAUSTED', 'The rendezvous is busy. Try again in a moment.'),
  RENDEZVOUS_NOT_FOUND: row(
    'later',
    4,
    'NOT_FOUND',
    'No sender is waiting under that code. Check its number and that the sender still runs, or see keibidrop help firewalls.',
  ),
  PEER_UNREACHABLE: row(
    'later',
    4,
    'UNAVAILABLE',
    'The peer cannot be reached. Check that both are on one network, add --connect HOST:PORT, or see keibidrop help firewalls.',
  ),
  PEER_BUSY: row('later', 4, 'RESOURCE_EXHAUSTED', 'The sender is busy with other receivers. Try again in a moment.'),
  HANDSHAKE_FINGERPRINT_MISMATCH: row(
    'never',
    3,
    'UNAUTHENTICATED',
    'The peer is not the one you saved. Compare fingerprints by phone before you continue: keibidrop contacts verify NAME.',
  ),
  HANDSHAKE_MALFORMED: row(
    'never',
    3,
    'INVALID_ARGUMENT',
    'The peer sent an invalid handshake. Check that both run the same KeibiDrop: keibidrop --version.',
  ),
  PEER_NEWER: row(
    'never',
    3,
    'FAILED_PRECONDITION',
    'The other side has a newer KeibiDrop, which this one cannot talk to. Update this one, then try again.',
  ),
  PEER_OLDER: row(
    'never',
    3,
    'FAILED_PRECONDITION',
    'The other side has an older KeibiDrop, which this one cannot talk to. Update it there, then try again.',
  ),
  HANDSHAKE_NO_COMMON_SUITE: row(
    'never',
    3,
    'FAILED_PRECONDITION',
    'The peers have no cipher suite in common. Leave out --suite on one of them.',
  ),
  HANDSHAKE_TAMPERED: row(
    'never',
    3,
    'UNAUTHENTICATED',
    'The handshake was altered on its way, so nothing was sent. An attacker may be listening; try another network.',
  ),
  HANDSHAKE_TIMEOUT: row(
    'reconnect',
    4,
    'DEADLINE_EXCEEDED',
    'The peer stopped answering during the handshake. Try again; if that fails, check the network with keibidrop doctor.',
  ),
  FRAME_TOO_LARGE: row(
    'never',
    3,
    'INVALID_ARGUMENT',
    'The peer sent a frame of an impossible length. Try again; if that fails, check that both run the same KeibiDrop: keibidrop --version.',
  ),
  FRAME_AUTH_FAILED: row(
    'never',
    3,
    'UNAUTHENTICATED',
    'Data was altered on its way and refused. None of it was kept; run the same command to continue.',
  ),
  FRAME_REPLAYED: row(
    'never',
    3,
    'UNAUTHENTICATED',
    'Data arrived twice or out of order and was refused. None of it was kept; run the same command to continue.',
  ),
  FRAME_TRUNCATED: row(
    'never',
    3,
    'DATA_LOSS',
    'The connection ended in the middle of a frame. Run the same command to continue.',
  ),
  OFFER_DECLINED: row(
    'never',
    3,
    'PERMISSION_DENIED',
    'The offer was declined, so nothing was written. Ask the receiver why, then run keibidrop send again.',
  ),
  SESSION_CLOSED: row('never', 5, 'ABORTED', 'The peer ended the session. Run the same command to continue.'),
  SESSION_LOST: row('reconnect', 5, 'UNAVAILABLE', 'The connection was lost. Run the same command to continue.'),
  TRANSFER_PATH_REFUSED: row(
    'never',
    1,
    'INVALID_ARGUMENT',
    'The sender offered a name that must not be written here. Nothing outside the destination was touched. Ask the sender for another name.',
  ),
  TRANSFER_LIMIT_EXCEEDED: row(
    'never',
    1,
    'RESOURCE_EXHAUSTED',
    'The offer is larger than KeibiDrop allows. Send it in parts.',
  ),
  TRANSFER_SOURCE_CHANGED: row(
    'never',
    1,
    'ABORTED',
    'The file changed while it was sent, so it was not delivered. Send it again once nothing writes to it.',
  ),
  TRANSFER_SOURCE_MISSING: row('never', 1, 'NOT_FOUND', 'The file is not there. Check the path and send it again.'),
  TRANSFER_SOURCE_UNREADABLE: row(
    'never',
    1,
    'PERMISSION_DENIED',
    'The file cannot be read. Check its permissions and send it again.',
  ),
  TRANSFER_SOURCE_UNSUPPORTED: row(
    'never',
    1,
    'INVALID_ARGUMENT',
    'This is neither a file, a folder nor a symlink, so it was left out. Send its content as a file, or pipe it into keibidrop send -.',
  ),
  TRANSFER_NAME_UNSENDABLE: row(
    'never',
    1,
    'INVALID_ARGUMENT',
    'Its name or link target is not UTF-8, is reserved or lies too deep, so it was not sent. Rename it and send again.',
  ),
  TRANSFER_SIZE_MISMATCH: row(
    'never',
    1,
    'DATA_LOSS',
    'The size of the file differs from the offer, so it was not delivered. Send it again.',
  ),
  TRANSFER_DISK_FULL: row(
    'never',
    1,
    'RESOURCE_EXHAUSTED',
    'The disk is full. Make room and run the same command to continue.',
  ),
  TRANSFER_DESTINATION_UNUSABLE: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'The destination cannot be written. Choose another with --out, or check its permissions.',
  ),
  TRANSFER_DESTINATION_EXISTS: row(
    'never',
    1,
    'ALREADY_EXISTS',
    'The destination already has something of that name. Use --overwrite, --skip, --ask or another --out.',
  ),
  TRANSFER_DIGEST_MISMATCH: row(
    'never',
    1,
    'DATA_LOSS',
    'The file on disk is not what was sent. Check the disk and run the same command again, which replaces the file.',
  ),
  TRANSFER_INCOMPLETE: row(
    'never',
    1,
    'DATA_LOSS',
    'Some files did not arrive. Run the same command to complete what can be completed.',
  ),
  NOT_A_SHARE: row(
    'never',
    2,
    'FAILED_PRECONDITION',
    'That code does not lead to a shared folder. If it is for files sent to you, use keibidrop receive.',
  ),
  NOT_A_TRANSFER: row(
    'never',
    2,
    'FAILED_PRECONDITION',
    'That code leads to a shared folder. Use keibidrop connect with it, then keibidrop list and keibidrop pull.',
  ),
  SHARE_UNKNOWN: row('never', 1, 'NOT_FOUND', 'There is no such share. List the shares with keibidrop list.'),
  SHARE_FORGOTTEN: row(
    'never',
    1,
    'UNAUTHENTICATED',
    'The computer that shares no longer knows this one. Connect again by the code: keibidrop connect, or mount.',
  ),
  SHARE_PATH_REFUSED: row(
    'never',
    1,
    'INVALID_ARGUMENT',
    'That is not a path within the share. Use a path that keibidrop list shows, with / between folders; symlinks are not followed.',
  ),
  SHARE_NOT_FOUND: row(
    'never',
    1,
    'NOT_FOUND',
    'There is nothing of that name in the share. List its contents with keibidrop list.',
  ),
  SHARE_UNREADABLE: row(
    'never',
    1,
    'PERMISSION_DENIED',
    'The computer that shares it cannot read it. Ask its owner to check the permissions.',
  ),
  SHARE_CALL_FAILED: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'The computer that shares it could not do that. Check its contents with keibidrop list, and try again.',
  ),
  IDENTITY_LOCKED: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'The identity is locked. Unlock it with keibidrop id unlock, and try again.',
  ),
  IDENTITY_CORRUPT: row(
    'never',
    1,
    'DATA_LOSS',
    'The stored identity cannot be read. Restore it with keibidrop id import --replace FILE, or make a new one with keibidrop id rotate.',
  ),
  IDENTITY_MISSING: row(
    'never',
    1,
    'NOT_FOUND',
    'The stored identity is gone. Put it back from a copy, or import an exported one with keibidrop id import FILE.',
  ),
  CONTACTS_CORRUPT: row(
    'never',
    1,
    'DATA_LOSS',
    'The stored contacts cannot be read. Put them back from a copy, or move the file away to start without contacts.',
  ),
  CONTACT_UNKNOWN: row('never', 1, 'NOT_FOUND', 'There is no such contact. List them with keibidrop contacts.'),
  CONTACT_BLOCKED: row(
    'never',
    3,
    'PERMISSION_DENIED',
    'The contact has blocked you, so nothing was sent. Ask them to run keibidrop contacts unblock, or send by a code, without --to.',
  ),
  MOUNT_UNAVAILABLE: row(
    'never',
    6,
    'FAILED_PRECONDITION',
    'This system cannot mount. Run keibidrop doctor to see why.',
  ),
  MOUNT_BUSY: row('never', 6, 'FAILED_PRECONDITION', 'The mount is in use. Close what uses it and try again.'),
  DAEMON_UNREACHABLE: row('later', 4, 'UNAVAILABLE', 'No daemon runs here. Start it with keibidrop daemon.'),
  DAEMON_RUNNING: row('never', 1, 'ALREADY_EXISTS', 'A daemon runs here already. End it with keibidrop stop.'),
  DAEMON_LOST: row('later', 4, 'UNAVAILABLE', 'The daemon has ended. Run the same command again to start it.'),
  DAEMON_INCOMPATIBLE: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'The running daemon has another version. Run keibidrop stop, then the same command again.',
  ),
  DAEMON_REFUSED: row(
    'never',
    3,
    'PERMISSION_DENIED',
    'The daemon does not accept that call. Open its page again with keibidrop ui.',
  ),
  EVENTS_LOST: row(
    'later',
    1,
    'RESOURCE_EXHAUSTED',
    'Events came faster than they were read. Run the same command again.',
  ),
  QUESTION_GONE: row(
    'never',
    1,
    'NOT_FOUND',
    'That question is already answered or no longer open. List what is open with keibidrop transfers and keibidrop invitations.',
  ),
  TRANSFER_UNKNOWN: row('never', 1, 'NOT_FOUND', 'There is no such transfer. List them with keibidrop transfers.'),
  DROP_UNKNOWN: row('never', 1, 'NOT_FOUND', 'The dropped files are no longer kept. Drop them again.'),
  FOLDER_UNREADABLE: row(
    'never',
    1,
    'PERMISSION_DENIED',
    'That folder does not exist, or cannot be read. Choose another.',
  ),
  DESKTOP_UNAVAILABLE: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'No file manager can be opened from here. Open the folder yourself.',
  ),
  WINDOW_UNAVAILABLE: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'The window cannot be opened here. Use the same page in the browser: keibidrop ui.',
  ),
  FOLDER_NOT_ALLOWED: row(
    'never',
    1,
    'PERMISSION_DENIED',
    'That is outside the folders that may be used. Choose a path in one of them, or add the folder to the start of keibidrop mcp.',
  ),
  DISK_FULL: row(
    'later',
    1,
    'RESOURCE_EXHAUSTED',
    'The disk that keeps KeibiDrop’s own files is full. Make room and run the same command again.',
  ),
  CONFIG_INVALID: row(
    'never',
    2,
    'INVALID_ARGUMENT',
    'The configuration is not valid. Correct config.toml and try again; keibidrop doctor shows the line.',
  ),
  FILE_NEWER: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'A file was written by a newer KeibiDrop, so it stays as it is. Update this one, then try again.',
  ),
  USAGE: row('never', 2, 'INVALID_ARGUMENT', 'That command is not understood. Run keibidrop --help.'),
  PEER_FAILED: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'The other side reported an error. Check its message, and use the same KeibiDrop on both sides.',
  ),
  SYSTEM_LIMIT: row(
    'later',
    1,
    'RESOURCE_EXHAUSTED',
    'This process has reached its limit of open files. Raise the limit, for example with ulimit -n 4096, and try again.',
  ),
  PROGRAM_INCOMPLETE: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'A part of KeibiDrop is missing or does not fit this system. Install KeibiDrop again.',
  ),
  PLATFORM_UNSUPPORTED: row(
    'never',
    1,
    'FAILED_PRECONDITION',
    'There is no package of KeibiDrop for this platform. Build it from its source: run scripts/setup in a checkout.',
  ),
  CANCELLED: row('never', 130, 'CANCELLED', 'Stopped. Run the same command to continue.'),
  INTERNAL: row('never', 70, 'INTERNAL', 'This is a bug in KeibiDrop. Please report it with the output of --verbose.'),
} as const satisfies Record<string, Row>;

/** The closed set of error codes. Texts are looked up by code, never parsed. */
export type ErrorCode = keyof typeof table;

/** Whether `text`, possibly from a peer, is a known code. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(table, text);
}

export function rowOf(code: ErrorCode): Row {
  return table[code];
}

export const ERROR_CODES = Object.keys(table) as readonly ErrorCode[];
