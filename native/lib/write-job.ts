// SPDX-License-Identifier: MPL-2.0
import { assertInteger } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { GuestJob, type GuestJobOptions, MOST, type NativeGuestJob, type NativeGuestJobClass } from './guest-job.ts';
import { checkedContent, type NativeContent, type PutContent } from './put.ts';
import type { LaneEnd } from './send-job.ts';

/** The news of a WriteJob since the last look. */
export interface WriteNews {
  /** Finished puts, each with its result: without `error` everything is written. */
  settled: { put: number; error?: Error }[];
  lanesEnded: LaneEnd[];
}

interface NativeWriteJob extends NativeGuestJob {
  session(): number;
  rekeyReady(number: number): void;
  begin(put: number, session: number, handle: number, ...content: NativeContent): void;
  cancel(put: number): void;
  takeNews(): WriteNews;
}

interface WriteJobBinding {
  WriteJob: NativeGuestJobClass<NativeWriteJob>;
}

/**
 * Writes files of a share in place (PROTOCOL 11.2). Native threads carry the changed bytes from the overlay to the lanes;
 * file bytes stay in native code.
 *
 * The end of a session ends its puts; then lanes of the next may be added.
 */
export class WriteJob extends GuestJob<NativeWriteJob> {
  constructor(options: GuestJobOptions) {
    super(loadBinding<WriteJobBinding>().WriteJob, options);
  }

  /** Identifies the current session: the number of sessions that have ended. */
  get session(): number {
    return this.native.session();
  }

  /** The peer's readers can follow too: every lane's writer moves to this rekey before its next frame. */
  rekeyReady(number: number): void {
    assertInteger('number', number, 1, 255);
    this.native.rekeyReady(number);
  }

  /**
   * Begins to write, by a handle that the peer issued in this session.
   *
   * @param put  the number under which news reports the result
   * @throws     SESSION_LOST if the session is another; TRANSFER_SIZE_MISMATCH (ranges are not in order, or there are
   * none); TRANSFER_DESTINATION_UNUSABLE (the overlay does not exist)
   */
  begin(put: number, session: number, handle: number, content: PutContent): void {
    assertInteger('put', put, 0, MOST);
    assertInteger('session', session, 0, MOST);
    assertInteger('handle', handle, 0, MOST);
    this.native.begin(put, session, handle, ...checkedContent(content));
  }

  /** Cancels a put: nothing more of it is sent, and news does not report it. */
  cancel(put: number): void {
    assertInteger('put', put, 0, MOST);
    this.native.cancel(put);
  }

  takeNews(): WriteNews {
    return this.native.takeNews();
  }
}
