// SPDX-License-Identifier: MPL-2.0
import { assertInteger, assertText } from './arguments.ts';
import { loadBinding } from './binding.ts';
import { type Suite, suiteBitOf } from './frame.ts';

/** Bytes of plaintext a second, on one core. */
export interface SuiteSpeed {
  seal: number;
  open: number;
}

export interface DiskRead {
  bytes: number;
  seconds: number;
  /** The file system keeps the file in memory, as tmpfs does, so no disk was read. */
  fromMemory: boolean;
}

interface NativeBench {
  write(path: string, bytes: number): Promise<number>;
  read(path: string): Promise<DiskRead>;
  flush(path: string): Promise<number>;
  suite(suiteBit: number, milliseconds: number): Promise<SuiteSpeed>;
  sha256(milliseconds: number): Promise<number>;
  loopback(bytes: number): Promise<number>;
  roundTrip(host: string, port: number): Promise<number>;
  close(): void;
}

interface BenchBinding {
  Bench: new () => NativeBench;
}

const MAX_MILLISECONDS = 60_000;

/** Measures this machine, in native code off the JavaScript thread. Concurrent measurements distort each other. */
export class Bench {
  readonly #native = new (loadBinding<BenchBinding>().Bench)();

  /**
   * Writes a new file of random-looking data and syncs it to the disk.
   *
   * @returns seconds, including the sync
   * @throws  TRANSFER_DISK_FULL, TRANSFER_DESTINATION_UNUSABLE; CANCELLED after close(), as every other measurement
   */
  write(path: string, bytes: number): Promise<number> {
    assertText('path', path);
    assertInteger('bytes', bytes, 1, Number.MAX_SAFE_INTEGER);
    return this.#native.write(path, bytes);
  }

  /** Reads a file from the disk, after dropping it from memory. @throws TRANSFER_SOURCE_UNREADABLE */
  read(path: string): Promise<DiskRead> {
    assertText('path', path);
    return this.#native.read(path);
  }

  /** Syncs a file to the disk and drops it from memory. @returns seconds @throws TRANSFER_SOURCE_UNREADABLE */
  flush(path: string): Promise<number> {
    assertText('path', path);
    return this.#native.flush(path);
  }

  /** Seals and opens frames of 1 MiB for about this long. */
  suite(suite: Suite, milliseconds: number): Promise<SuiteSpeed> {
    assertInteger('milliseconds', milliseconds, 1, MAX_MILLISECONDS);
    return this.#native.suite(suiteBitOf(suite), milliseconds);
  }

  /** @returns bytes a second, on one core */
  sha256(milliseconds: number): Promise<number> {
    assertInteger('milliseconds', milliseconds, 1, MAX_MILLISECONDS);
    return this.#native.sha256(milliseconds);
  }

  /** Moves bytes over a TCP connection from this machine to itself. @returns seconds */
  loopback(bytes: number): Promise<number> {
    assertInteger('bytes', bytes, 1, Number.MAX_SAFE_INTEGER);
    return this.#native.loopback(bytes);
  }

  /** The least time that a TCP handshake takes: the round trip. @returns seconds @throws PEER_UNREACHABLE */
  roundTrip(host: string, port: number): Promise<number> {
    assertText('host', host);
    assertInteger('port', port, 1, 65535);
    return this.#native.roundTrip(host, port);
  }

  /** Cancels running measurements. Idempotent. */
  close(): void {
    this.#native.close();
  }
}
