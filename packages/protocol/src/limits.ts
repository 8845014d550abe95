// SPDX-License-Identifier: MPL-2.0

// The limits of PROTOCOL 1, same as native/src/core/limits.h; limits.test.ts compares them.

/** Longest handshake message (PROTOCOL 3). */
export const MAX_HANDSHAKE_BYTES = 4096;

/** Unit of resume: one bit of a bitmap, one segment of a large file. */
export const CHUNK_BYTES = 2 ** 20;

/** Longest plaintext of one frame (PROTOCOL 4.1). */
export const MAX_FRAME_PLAINTEXT = CHUNK_BYTES + 4096;

/** Plaintext bytes after which a writer moves to the next epoch (PROTOCOL 4.2). */
export const RATCHET_BYTES = 2 ** 30;

/** Frames after which a writer moves to the next epoch (PROTOCOL 4.2). */
export const RATCHET_FRAMES = 2 ** 20;

/** Bytes through a session's lanes after which it rekeys. */
export const REKEY_BYTES = 64 * 2 ** 30;

/** Lanes of one session at one time (PROTOCOL 5). */
export const MAX_LANES = 16;
/** Lanes of one session over its lifetime: each number is used once (PROTOCOL 5.1). */
export const MAX_LANE_NUMBERS = 256;

/** Longest manifest page (PROTOCOL 6). */
export const MAX_PAGE_BYTES = 256 * 1024;

/** Entries of one transfer (PROTOCOL 6). */
export const MAX_ENTRIES = 2 ** 22;

/** Longest name of an entry, in UTF-8 bytes (PROTOCOL 6). */
export const MAX_NAME_BYTES = 255;

/** Longest target of a symlink, in UTF-8 bytes (PROTOCOL 6). */
export const MAX_TARGET_BYTES = 4095;

/** Directories above an entry (PROTOCOL 6). */
export const MAX_DEPTH = 4096;

/** Largest file, so that every size and offset is an exact `number` (PROTOCOL 6). */
export const MAX_FILE_BYTES = 2 ** 53 - 1;

/** Largest sparse file. Its use of the disk is not known in advance, so this bounds the memory for its bitmap, 2 MiB (PROTOCOL 6). */
export const MAX_SPARSE_BYTES = 2 ** 44;

/** Chunks of one hole segment (PROTOCOL 5.2). */
export const MAX_HOLE_CHUNKS = 2 ** 16;

/** Total size of all manifest pages of one transfer (PROTOCOL 6). */
export const MAX_MANIFEST_BYTES = 384 * 2 ** 20;

/** Longest text sent instead of files (PROTOCOL 8). */
export const MAX_TEXT_BYTES = 2 ** 20;

/** Longest name a peer shows for itself, in UTF-8 bytes (PROTOCOL 8). */
export const MAX_LABEL_BYTES = 128;

/** Longest message through a mailbox (PROTOCOL 2). */
export const MAX_MAILBOX_BODY_BYTES = 4096;

/** Wrong guesses after which an offer ends (PROTOCOL 2.2). */
export const MAX_WRONG_GUESSES = 3;

/** Minimum strength of a code, in bits, unless the user insists. */
export const MIN_CODE_BITS = 16;

/** Longest path within a share, in UTF-8 bytes (PROTOCOL 11). */
export const MAX_SHARE_PATH_BYTES = 2 ** 15;

/** Paths of one Fetch (PROTOCOL 11). */
export const MAX_FETCH_PATHS = 1024;

/** Changes in one notice (PROTOCOL 11). */
export const MAX_NOTICE_CHANGES = 1024;

/** Calls in one message of a share's Calls (PROTOCOL 11). */
export const MAX_BATCH_CALLS = 256;

/** Longest value of an extended attribute, and total length of the names of one entry's attributes (PROTOCOL 11.2). */
export const MAX_ATTRIBUTE_BYTES = 2 ** 16;
