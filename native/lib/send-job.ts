// SPDX-License-Identifier: MPL-2.0
import { assertBytes, assertFunction, assertInteger, assertText, misuse } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { type Suite, suiteBitOf } from './frame.ts';
import type { Listener, NativeListener } from './listener.ts';
import { type NativeRateBudget, RateBudget } from './rate-budget.ts';

/** One path and the name it travels under. A person has named it, so that it is absolute, or empty for standard input. */
export interface Root {
  path: string;
  name: string;
  /** With an empty path: a file of so many bytes of noise, more than 1 MiB, that is on no disk. For measurements. */
  generatedBytes?: number;
  /** An absolute folder below which another peer has named the path: then no symlink beneath it is followed. */
  beneath?: string;
}

/** Some entries of the manifest as they travel (PROTOCOL 6). */
export interface Page {
  first: number;
  count: number;
  bytes: Uint8Array;
}

/** Something that could not be read or written. `entry` is NO_ENTRY when it never got a number. */
export interface Problem {
  entry: number;
  /** An ErrorCode. */
  code: string;
  /** What the system said, without a path. */
  reason: string;
  /** Relative, as in the manifest. */
  path: string;
}

/** What has happened in a SendJob since the last look. */
export interface SendNews {
  pages: Page[];
  problems: Problem[];
  /** Once, after the last page. */
  walked?: { entries: number; files: number; bytes: number };
  lanesEnded: LaneEnd[];
  /** Closed by the receiver: what it had not taken of them comes by the others. */
  lanesMoved: number[];
}

/** How one lane has ended. */
export interface LaneEnd {
  lane: number;
  /** Of segments: at the receiver those it took whole, at the sender those it had sent or begun to. */
  frames: number;
  /** An ErrorCode, or '' after an end frame. */
  code: string;
}

/** How a session's lanes are authenticated and keyed (PROTOCOL 5.1). */
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

/** Of packages/protocol: what is not longer is sent whole, by another way than chunks. */
const CHUNK_BYTES = 2 ** 20;

interface NativeSendJob {
  start(): void;
  expectLanes(listener: NativeListener, sessionId: Uint8Array, laneSecret: Uint8Array, suiteBit: number): void;
  takeNews(): SendNews;
  answer(first: number, count: number, wanted: Uint8Array, entries: number[], bitmaps: Uint8Array[]): void;
  acknowledge(taken: number[]): void;
  closeLane(lane: number, frames: number): void;
  retireLane(lane: number): void;
  fold(number: number, secret: Uint8Array): void;
  drop(entry: number): void;
  finish(): void;
  digest(entry: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

interface SendJobBinding {
  SendJob: new (roots: (string | number)[], budget: NativeRateBudget | undefined, onWake: () => void) => NativeSendJob;
}

/**
 * One receiver's transfer on the sending peer. Native threads walk the roots and carry what the receiver wants from disk to its
 * lanes; no byte of a file comes here.
 */
export class SendJob {
  readonly #native: NativeSendJob;

  /**
   * @param options.budget  the rate it keeps to, with the other jobs that have it; absent: no limit
   * @param options.onWake  there is news to take; never after close()
   */
  constructor(options: { roots: Root[]; budget?: RateBudget | undefined; onWake(): void }) {
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
    this.#native = new Native(roots, RateBudget.nativeOf(options.budget), () => options.onWake());
  }

  /** Begins to walk; a second time, or after close(), does nothing. */
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
   * @throws HANDSHAKE_MALFORMED when it does not fit the page, or pages are not answered in their order, each once
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
   * The receiver has taken so many frames of these lanes (PROTOCOL 5.3). Ends those whose path has been silent for too long.
   *
   * @throws HANDSHAKE_MALFORMED when they are more than were sent
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

  /**
   * The receiver's end of a lane is closed, with so many frames taken; the others carry the rest. News tell when that is so.
   *
   * @throws HANDSHAKE_MALFORMED when they are more than were sent, or it was closed before
   */
  closeLane(lane: number, frames: number): void {
    assertInteger('lane', lane, 0, NO_ENTRY);
    assertInteger('frames', frames, 0, Number.MAX_SAFE_INTEGER);
    this.#native.closeLane(lane, frames);
  }

  /** A lane ends well after the frame it is at. */
  retireLane(lane: number): void {
    assertInteger('lane', lane, 0, NO_ENTRY);
    this.#native.retireLane(lane);
  }

  /** Every lane's writer moves to this fold before its next frame (PROTOCOL 4.3). The secret is copied. */
  fold(number: number, secret: Uint8Array): void {
    assertInteger('number', number, 1, 255);
    assertBytes('secret', secret, 32);
    this.#native.fold(number, secret);
  }

  /** The receiver cannot keep this entry: its rest is not sent. */
  drop(entry: number): void {
    assertInteger('entry', entry, 0, NO_ENTRY);
    this.#native.drop(entry);
  }

  /** The receiver has everything: the lanes end in order. */
  finish(): void {
    this.#native.finish();
  }

  /**
   * SHA-256 of each chunk of a file as it is now, 32 bytes each.
   *
   * @throws TRANSFER_SOURCE_CHANGED when it is not what was offered, TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE
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
