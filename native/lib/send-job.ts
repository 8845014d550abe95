// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertFunction, assertInteger, assertText, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { type Suite, suiteBitOf } from './frame.ts';
import type { Listener, NativeListener } from './listener.ts';
import { type NativeRateBudget, RateBudget } from './rate-budget.ts';

/** One path and its name in the offer. Absolute, since a person chose it; empty for standard input. */
export interface Root {
  path: string;
  name: string;
  /**
   * With an empty path: a file of this many random-looking bytes, more than 1 MiB, that is on no disk. For
   * measurements.
   */
  generatedBytes?: number;
  /** An absolute folder, if another peer named the path below it: then no symlink beneath it is followed. */
  beneath?: string;
}

/** Some entries of the manifest in wire format (PROTOCOL 6). */
export interface Page {
  first: number;
  count: number;
  bytes: Uint8Array;
}

/** A file that could not be read or written. `entry` is NO_ENTRY if it has no number. */
export interface Problem {
  entry: number;
  /** An ErrorCode. */
  code: string;
  /** The system's message, without a path. */
  reason: string;
  /** Relative, as in the manifest. */
  path: string;
}

/** Paths below the roots that are not sent. */
export interface Selection {
  /** Patterns as in gitignore(5), one a line, relative to each root; at most 64 KiB. */
  exclude?: string;
  /** Applies each `.gitignore` in the roots, too. Patterns of `exclude` decide first. */
  gitignore?: boolean;
}

/** The result of a walk. */
export interface WalkTotals {
  entries: number;
  files: number;
  bytes: number;
  /** Names that the selection leaves out; a folder counts as one. */
  leftOut: number;
}

/** The news of a SendJob since the last look. */
export interface SendNews {
  pages: Page[];
  problems: Problem[];
  /** Once, after the last page. */
  walked?: WalkTotals;
  lanesEnded: LaneEnd[];
  /** Lanes that the receiver has closed; the other lanes now carry their unacknowledged frames. */
  lanesMoved: number[];
}

/** The end of one lane. */
export interface LaneEnd {
  lane: number;
  /** Segments: at the receiver those taken completely, at the sender those sent or begun. */
  frames: number;
  /** An ErrorCode, or '' after an end frame. */
  code: string;
}

/** The authentication and keys of a session's lanes (PROTOCOL 5.1). */
export interface LaneKeys {
  sessionId: Uint8Array;
  laneSecret: Uint8Array;
  suite: Suite;
}

/** A file of which the receiver holds some chunks: bit i of byte i/8 is chunk i. */
export interface Partial {
  entry: number;
  held: Uint8Array;
}

/** The number that stands for no entry. */
export const NO_ENTRY = 0xffffffff;

/** Limit of `Selection.exclude`. */
export const MAX_EXCLUDE_BYTES = 64 * 1024;

/** The same as in packages/protocol: shorter files are sent whole, without chunks. */
const CHUNK_BYTES = 2 ** 20;

interface NativeSendJob {
  start(): void;
  expectLanes(listener: NativeListener, sessionId: Uint8Array, laneSecret: Uint8Array, suiteBit: number): void;
  takeNews(): SendNews;
  answer(first: number, count: number, wanted: Uint8Array, entries: number[], bitmaps: Uint8Array[]): void;
  acknowledge(taken: number[]): void;
  currentPath(): string;
  closeLane(lane: number, frames: number): void;
  retireLane(lane: number): void;
  rekey(number: number, secret: Uint8Array): void;
  drop(entry: number): void;
  finish(): void;
  digest(entry: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

interface SendJobBinding {
  SendJob: new (
    roots: (string | number)[],
    budget: NativeRateBudget | undefined,
    onWake: () => void,
    exclude: string,
    gitignore: boolean,
  ) => NativeSendJob;
}

/**
 * One receiver's transfer on the sending peer. Native threads walk the roots and carry the wanted bytes from disk to
 * the lanes; file bytes stay in native code.
 */
export class SendJob {
  readonly #native: NativeSendJob;

  /**
   * @param options.budget  the rate limit shared with other jobs; absent: no limit
   * @param options.onWake  news is available; never called after close()
   */
  constructor(options: {
    roots: Root[];
    selection?: Selection | undefined;
    budget?: RateBudget | undefined;
    onWake(): void;
  }) {
    const { exclude = '', gitignore = false } = options.selection ?? {};
    assertText('exclude', exclude);
    if (Buffer.byteLength(exclude) > MAX_EXCLUDE_BYTES) throw misuse('the patterns are too long');
    if (typeof gitignore !== 'boolean') throw misuse('gitignore is true or false');
    assertFunction('onWake', options.onWake);
    for (const { path, name, generatedBytes, beneath } of options.roots) {
      assertText('path', path);
      assertText('name', name);
      if (beneath !== undefined) assertText('beneath', beneath);
      if (generatedBytes === undefined) continue;
      assertInteger('generatedBytes', generatedBytes, CHUNK_BYTES + 1, Number.MAX_SAFE_INTEGER);
      if (path !== '') throw misuse('a file is either on a disk or generated');
    }
    const roots = options.roots.flatMap(({ path, name, generatedBytes = 0, beneath = '' }) => [
      path,
      name,
      generatedBytes,
      beneath,
    ]);
    const { SendJob: Native } = loadBinding<SendJobBinding>();
    const budget = RateBudget.nativeOf(options.budget);
    this.#native = new Native(roots, budget, () => options.onWake(), exclude, gitignore);
  }

  /** Starts the walk; a second call, or one after close(), does nothing. */
  start(): void {
    this.#native.start();
  }

  /** Lets the listener accept the lanes of this session until close(). The secret is copied. */
  expectLanes(listener: Listener, { sessionId, laneSecret, suite }: LaneKeys): void {
    assertBytes('sessionId', sessionId, 16);
    assertBytes('laneSecret', laneSecret, 32);
    this.#native.expectLanes(listener.native, sessionId, laneSecret, suiteBitOf(suite));
  }

  takeNews(): SendNews {
    return this.#native.takeNews();
  }

  /**
   * The receiver's answer to one page (PROTOCOL 7).
   *
   * @throws HANDSHAKE_MALFORMED if it does not fit the page, or pages are not answered in order, each once
   */
  answer(first: number, count: number, wanted: Uint8Array, partials: Partial[]): void {
    assertInteger('first', first, 0, NO_ENTRY);
    assertInteger('count', count, 0, NO_ENTRY);
    assertBytes('wanted', wanted);
    for (const { entry, held } of partials) {
      assertInteger('entry', entry, 0, NO_ENTRY);
      assertBytes('held', held);
    }
    const entries = partials.map(({ entry }) => entry);
    this.#native.answer(
      first,
      count,
      wanted,
      entries,
      partials.map(({ held }) => held),
    );
  }

  /**
   * The receiver has taken this many frames of these lanes (PROTOCOL 5.3). Ends lanes whose path was silent for too
   * long.
   *
   * @throws HANDSHAKE_MALFORMED if there are more than were sent
   */
  acknowledge(lanes: readonly { lane: number; frames: number }[]): void {
    this.#native.acknowledge(
      lanes.flatMap(({ lane, frames }) => {
        assertInteger('lane', lane, 0, NO_ENTRY);
        assertInteger('frames', frames, 0, Number.MAX_SAFE_INTEGER);
        return [lane, frames];
      }),
    );
  }

  /** The path in the manifest of the file being sent; '' before the first. */
  currentPath(): string {
    return this.#native.currentPath();
  }

  /**
   * The receiver has closed its end of a lane after this many frames; the other lanes carry the rest. News reports when
   * they do.
   *
   * @throws HANDSHAKE_MALFORMED if there are more than were sent, or it was closed before
   */
  closeLane(lane: number, frames: number): void {
    assertInteger('lane', lane, 0, NO_ENTRY);
    assertInteger('frames', frames, 0, Number.MAX_SAFE_INTEGER);
    this.#native.closeLane(lane, frames);
  }

  /** Ends a lane in order after its current frame. */
  retireLane(lane: number): void {
    assertInteger('lane', lane, 0, NO_ENTRY);
    this.#native.retireLane(lane);
  }

  /** Every lane's writer moves to this rekey before its next frame (PROTOCOL 4.3). The secret is copied. */
  rekey(number: number, secret: Uint8Array): void {
    assertInteger('number', number, 1, 255);
    assertBytes('secret', secret, 32);
    this.#native.rekey(number, secret);
  }

  /** The receiver cannot store this entry: the rest of it is not sent. */
  drop(entry: number): void {
    assertInteger('entry', entry, 0, NO_ENTRY);
    this.#native.drop(entry);
  }

  /** The receiver has everything: ends the lanes in order. */
  finish(): void {
    this.#native.finish();
  }

  /**
   * SHA-256 of each chunk of a file as it is now, 32 bytes each.
   *
   * @throws TRANSFER_SOURCE_CHANGED if it differs from the offer, TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE
   */
  digest(entry: number): Promise<Uint8Array> {
    assertInteger('entry', entry, 0, NO_ENTRY);
    return this.#native.digest(entry);
  }

  /** Ends every thread. Idempotent. */
  close(): Promise<void> {
    return this.#native.close();
  }
}
