// SPDX-License-Identifier: MPL-2.0

/**
 * The messages between a mount host and the daemon over their socket pair. File bytes never pass here.
 *
 * Set-up writes the codecs: proto/gen/mount-host.ts and native/gen/mount/host_messages.h.
 *
 *   | length 4 | type 1 | request 4 | body |      length = 5 + body, big-endian; request 0: expects no answer.
 *
 * A body is its fields in order. The last field may reach to the end of the body.
 *
 *   u8 u16 u32 u64   unsigned numbers; TypeScript has u64 as bigint.
 *   size             u64, a number in TypeScript: no file is longer than a safe integer.
 *   time             nanoseconds since 1970, signed, 8 bytes.
 *   flag             1 byte: 0 or 1.
 *   id               8 bytes without a meaning here.
 *   key              32 hexadecimal digits.
 *   text             length 2 | UTF-8.
 *   rest             UTF-8 to the end.
 *   bytes            to the end.
 *   [a, b]           1 byte: 0 for the first name, 1 for the second; `null` is no value.
 *   { list: fields }     count 4 | that many times these fields.
 *   { toEnd: fields }    these fields, repeated to the end.
 */

const VERSION = { size: 'size', mtimeNs: 'time' };
const LOCK = { owner: 'id', whole: 'flag', kind: [null, 'shared', 'exclusive'], from: 'u64', end: 'u64', path: 'rest' };

/**
 * The host's messages. `answer`: the fields of the `done` that answers; a message that has it is a request. `page`: what
 * pages before that `done` bring.
 */
export const fromHost = {
  mounted: { type: 1, about: 'The folder is mounted.', fields: {} },
  failed: { type: 2, about: 'Mounting failed.', fields: { systemError: 'u32', reason: 'rest' } },
  list: { type: 3, fields: { path: 'rest' }, page: 'entries', answer: {} },
  look: { type: 4, fields: { path: 'rest' }, page: 'one entry', answer: {} },
  want: {
    type: 5,
    about: 'Fetches `count` blocks from `first` on, and prefetches `ahead` blocks after them.',
    fields: { key: 'key', ...VERSION, first: 'u32', count: 'u32', ahead: 'u32', path: 'rest' },
    answer: { aheadBlocks: 'u32' },
  },
  release: { type: 6, about: 'No program has it open.', fields: { key: 'key' } },
  space: { type: 7, fields: {}, answer: { totalBytes: 'size', freeBytes: 'size' } },
  busy: {
    type: 8,
    about: '`unmount` is refused: `unsent` files could not be sent, or with 0 the folder is in use.',
    fields: { unsent: 'u32' },
  },
  lost: { type: 9, about: 'The mount ends with `unsent` files that could not be sent.', fields: { unsent: 'u32' } },
  make: {
    type: 10,
    about: '`kind` is as in a manifest. The answer has no body if the new time of the directory is unknown.',
    fields: { kind: [null, 'file', 'directory', 'symlink'], mode: 'u16', path: 'text', target: 'rest' },
    page: 'one entry',
    answer: { directoryMtimeNs: 'time' },
  },
  remove: {
    type: 11,
    about: 'Answered like `make`.',
    fields: { directory: 'flag', path: 'rest' },
    answer: { directoryMtimeNs: 'time' },
  },
  rename: { type: 12, fields: { how: ['replace', 'keep', 'exchange'], from: 'text', to: 'rest' }, answer: {} },
  change: {
    type: 13,
    about: '`what` has bit 1 if the mode changes, and bit 2 if the time does.',
    fields: { what: 'u8', mode: 'u16', mtimeNs: 'time', path: 'rest' },
    page: 'one entry',
    answer: {},
  },
  copy: { type: 14, fields: { from: 'text', to: 'rest' }, page: 'one entry', answer: {} },
  getAttribute: { type: 15, fields: { path: 'text', name: 'rest' }, page: 'the value', answer: {} },
  setAttribute: {
    type: 16,
    fields: { how: ['any', 'new', 'old'], path: 'text', name: 'text', value: 'bytes' },
    answer: {},
  },
  removeAttribute: { type: 17, fields: { path: 'text', name: 'rest' }, answer: {} },
  listAttributes: { type: 18, fields: { path: 'rest' }, page: 'the names, each followed by a 0', answer: {} },
  syncDirectory: { type: 19, fields: { path: 'rest' }, answer: {} },
  put: {
    type: 20,
    about: 'Writes `ranges` of TOKEN.data, after truncating the file to the `keep` bytes that are still valid.',
    fields: {
      token: 'key',
      ...VERSION,
      baseSize: 'size',
      baseMtimeNs: 'time',
      keep: 'size',
      sync: 'flag',
      ranges: { list: { offset: 'size', length: 'size' } },
      path: 'rest',
    },
    page: 'one entry',
    answer: {},
  },
  stop: {
    type: 21,
    about: 'The result of `stopped` is not needed any more; the daemon ends that request soon.',
    fields: { stopped: 'u32' },
  },
  fetch: {
    type: 22,
    about: 'Prefetches whole files; answered when they are there, or will not be.',
    fields: { files: { toEnd: { key: 'key', ...VERSION, path: 'text' } } },
    answer: {},
  },
  leave: { type: 23, about: 'The reader jumped away: do not send the blocks requested ahead.', fields: { key: 'key' } },
  lock: {
    type: 24,
    about: '`end` is 2^63 for the end of the file. Fails with EAGAIN while another owner has a conflicting lock.',
    fields: LOCK,
    page: 'one entry',
    answer: { holder: 'u32' },
  },
  unlock: { type: 25, fields: { holder: 'u32', from: 'u64', end: 'u64' }, answer: {} },
  testLock: {
    type: 26,
    fields: LOCK,
    answer: { kind: ['none', 'shared', 'exclusive'], from: 'u64', end: 'u64' },
  },
  unsent: {
    type: 27,
    about: 'Before `lost`: TOKEN.data is what the file was to be. Not `complete`: bytes that were never read are 0.',
    fields: { token: 'key', mtimeNs: 'time', complete: 'flag', path: 'rest' },
  },
};

/** The daemon's messages. */
export const fromDaemon = {
  done: {
    type: 0x81,
    about: 'Ends an answer: 0, or the errno of a failure.',
    fields: { systemError: 'u32', body: 'bytes' },
  },
  page: { type: 0x82, about: 'Entries as in a manifest (PROTOCOL 6), without parents.', fields: { body: 'bytes' } },
  changes: {
    type: 0x83,
    fields: { changes: { toEnd: { kind: [null, 'replaced', 'changed', 'removed', 'created'], path: 'text' } } },
  },
  watched: {
    type: 0x84,
    about: 'Set: changes are reported from now on, earlier ones may be missed. Clear: they are not reported.',
    fields: { flag: 'flag' },
  },
  away: { type: 0x85, about: 'Whether the other peer is away.', fields: { flag: 'flag' } },
  unmount: { type: 0x86, about: 'Set: even if the folder is in use.', fields: { flag: 'flag' } },
  locksLost: { type: 0x87, about: 'The other peer has released all locks.', fields: {} },
};

const KIB = 2 ** 10;
const MIB = 2 ** 20;

/** Numbers that both hosts, and the daemon, keep to. */
export const rules = {
  // Messages.
  HEAD_BYTES: 9,
  MAX_MESSAGE_BYTES: MIB,
  KEY_BYTES: 32,
  /** The limit of queued messages for a daemon that reads nothing. */
  MOST_QUEUED_BYTES: 64 * MIB,
  /** The timeout of an answer in pages, as a multiple of the usual one: each page restarts that. */
  PAGE_PATIENCES: 10,
  /** The same for `put` and `copy`. The daemon gives up before the host does. */
  DAEMON_PUT_PATIENCES: 10,
  PUT_PATIENCES: 12,

  // Names.
  MOST_LISTING_BYTES: 64 * MIB,
  /** How long a name is trusted while changes are not reported. */
  UNWATCHED_TRUST_MS: 1000,

  // Reads.
  CACHE_BLOCK_BYTES: 64 * KIB,
  /** A file of at most this is fetched whole. */
  WHOLE_READ_BYTES: 256 * KIB,
  /** Blocks read in order before any are prefetched. */
  UNEARNED_BLOCKS: 4,
  /** The longest prefetch until the daemon has reported what the path carries. */
  FIRST_AHEAD_BLOCKS: 64,
  /** An open file may cache this much, whatever the limit of the cache is. */
  LEAST_OPEN_BYTES: 256 * MIB,

  // Writes.
  /** The first write to a file of at most this fetches it whole, so that a conflict copy is complete. */
  WHOLE_WRITE_BYTES: 16 * MIB,
  /** Unsent data of one file that is uploaded while the file is still written. */
  PUT_BYTES: 16 * MIB,
  PUT_RANGES: 8192,
  /** The same by age. */
  PUT_AGE_MS: 2000,
  /** Pauses after failed uploads, doubled each time. */
  FIRST_BACKOFF_MS: 500,
  MOST_BACKOFF_MS: 30_000,
  MOST_DIRTY_FILES: 4096,
  MOST_CONFLICTS: 1000,
  /** The mode of directories that are created again for an upload. */
  DIRECTORY_MODE: 0o755,
  /** A longer file whose changes could not be sent keeps only the bytes that were written. */
  WHOLE_UNSENT_BYTES: 1024 * MIB,

  // The end.
  FORCED_PATIENCE_MS: 2000,
  UNMOUNT_TRIES: 10,
  UNMOUNT_PAUSE_MS: 30,
};
