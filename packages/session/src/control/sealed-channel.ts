// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { FrameOpener, FrameSealer } from '@keibidrop/native';
import { isErrorCode, KeibiError, type Suite } from '@keibidrop/protocol';
import { FrameReader } from './frame-reader.ts';

/**
 * The two byte streams of one control connection. On stream 0 the initiator is the gRPC client, on stream 1 the
 * responder (PROTOCOL 8).
 */
export interface SealedChannel {
  readonly channels: readonly [Duplex, Duplex];
  /**
   * Resolves once, when the connection is closed and everything is freed. The value is undefined if all four directions
   * had ended, else FRAME_TOO_LARGE, FRAME_AUTH_FAILED, FRAME_REPLAYED, FRAME_TRUNCATED, SESSION_LOST or the reason
   * given to `destroy`.
   */
  readonly closed: Promise<KeibiError | undefined>;
  /** Closes the connection at once. Idempotent. */
  destroy(reason: KeibiError): void;
}

/** Keys of one control connection. `openSealedChannel` copies both. */
export interface SealedChannelKeys {
  suite: Suite;
  writeKey: Uint8Array;
  readKey: Uint8Array;
}

/** Limit of HTTP/2 bytes in one frame: a few HTTP/2 frames, so that neither channel waits long for the other. */
const MAX_PAYLOAD_BYTES = 64 * 1024;
const CHANNEL_BYTES = 1;

/**
 * Seals two byte streams into one connection. The plaintext of each frame (PROTOCOL 4) is `| channel 1 | HTTP/2 bytes
 * |`; no bytes mean the end of a direction (PROTOCOL 8).
 *
 * A write completes when its frame has reached the kernel. The connection is read only while both channels accept more,
 * so a slow side applies backpressure and buffers stay small. Any refused frame destroys the connection and both
 * channels.
 *
 * @param stream  a connection after the handshake; owned from now on
 */
export function openSealedChannel(stream: Duplex, keys: SealedChannelKeys): SealedChannel {
  return new SealedConnection(stream, keys);
}

class SealedConnection implements SealedChannel {
  readonly channels: readonly [Channel, Channel];
  readonly closed: Promise<KeibiError | undefined>;
  readonly #stream: Duplex;
  readonly #sealer: FrameSealer;
  readonly #opener: FrameOpener;
  readonly #reader: FrameReader;
  #settle: (reason: KeibiError | undefined) => void = () => {};
  #reason: KeibiError | undefined;
  #ended = false;

  constructor(stream: Duplex, keys: SealedChannelKeys) {
    this.#stream = stream;
    this.#sealer = new FrameSealer({ suite: keys.suite, key: keys.writeKey });
    this.#opener = new FrameOpener({ suite: keys.suite, key: keys.readKey });
    this.#reader = new FrameReader(this.#opener, (field) => FrameOpener.bodyBytes(field));
    this.channels = [new Channel(0, this), new Channel(1, this)];
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    // Calls are small and wait for their replies.
    if (stream instanceof Socket) stream.setNoDelay(true);
    stream.on('data', (piece: Buffer) => this.#receive(piece));
    stream.once('end', () => this.#receiveEnd());
    stream.once('error', (cause) => this.destroy(lost(cause)));
    stream.once('close', () => this.#release());
    // The handshake leaves the stream paused.
    stream.resume();
  }

  destroy(reason: KeibiError): void {
    this.#reason ??= reason;
    this.#stream.destroy();
    for (const channel of this.channels) channel.destroy(this.#reason);
  }

  /** Seals `bytes` (at most MAX_PAYLOAD_BYTES; an empty array ends the direction). Calls `done` once they are sent. */
  write(channel: number, bytes: Uint8Array, done: (error?: Error | null) => void): void {
    if (this.#stream.destroyed || this.#stream.writableEnded) {
      done(this.#reason ?? lost());
      return;
    }
    const plaintext = new Uint8Array(CHANNEL_BYTES + bytes.length);
    plaintext[0] = channel;
    plaintext.set(bytes, CHANNEL_BYTES);
    this.#stream.write(this.#sealer.seal(plaintext), done);
  }

  /** Continues reading unless a channel is full. */
  resume(): void {
    if (!this.channels.some((channel) => channel.full)) this.#stream.resume();
  }

  /** Called when one direction of a channel ends. After the last one our side of the connection ends. */
  directionEnded(): void {
    if (this.#ended || !this.channels.every((channel) => channel.over)) return;
    this.#ended = true;
    // Bytes after the last end are dropped, so that the peer's own end can arrive.
    this.#stream.end();
    this.#stream.resume();
  }

  #receive(piece: Uint8Array): void {
    if (this.#reason !== undefined) return;
    try {
      for (const plaintext of this.#reader.feed(piece)) this.#deliver(plaintext);
    } catch (cause) {
      this.destroy(frameFailure(cause));
      return;
    }
    if (this.channels.some((channel) => channel.full)) this.#stream.pause();
  }

  #deliver(plaintext: Uint8Array): void {
    const channel = this.channels[plaintext[0] ?? -1];
    if (channel === undefined || channel.peerEnded) {
      throw new KeibiError('FRAME_AUTH_FAILED', 'The peer sealed a frame that belongs to no open channel.');
    }
    channel.deliver(plaintext.subarray(CHANNEL_BYTES));
  }

  #receiveEnd(): void {
    if (this.channels.every((channel) => channel.peerEnded)) return;
    try {
      this.#reader.end();
      this.destroy(lost());
    } catch (cause) {
      this.destroy(frameFailure(cause));
    }
  }

  #release(): void {
    if (!this.#ended) this.destroy(this.#reason ?? lost());
    this.#sealer.close();
    this.#opener.close();
    this.#settle(this.#reason);
  }
}

/** One of the two byte streams. Bytes that the peer still sends to a destroyed stream are dropped. */
class Channel extends Duplex {
  readonly #number: number;
  readonly #connection: SealedConnection;
  /** The reader accepts no more for now. */
  full = false;
  peerEnded = false;
  #selfEnded = false;

  constructor(number: number, connection: SealedConnection) {
    super({ allowHalfOpen: true });
    this.#number = number;
    this.#connection = connection;
    // `closed` reports the reason; a channel without a listener must not end the process.
    this.on('error', () => {});
  }

  get over(): boolean {
    return this.peerEnded && this.#selfEnded;
  }

  deliver(bytes: Uint8Array): void {
    if (bytes.length === 0) {
      this.peerEnded = true;
      if (!this.destroyed) this.push(null);
      this.#connection.directionEnded();
    } else if (!this.destroyed) {
      this.full = !this.push(bytes);
    }
  }

  override _read(): void {
    this.full = false;
    this.#connection.resume();
  }

  override _write(bytes: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const last = bytes.length <= MAX_PAYLOAD_BYTES;
    const payload = last ? bytes : bytes.subarray(0, MAX_PAYLOAD_BYTES);
    this.#connection.write(this.#number, payload, (error) => {
      if (error || last) done(error);
      else this._write(bytes.subarray(MAX_PAYLOAD_BYTES), encoding, done);
    });
  }

  override _writev(pieces: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(pieces.map((piece) => piece.chunk)), 'binary', done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.full = false;
    this.#connection.resume();
    if (error === null) this.#end(() => {});
    done(error);
  }

  #end(done: (error?: Error | null) => void): void {
    if (this.#selfEnded) {
      done();
      return;
    }
    this.#selfEnded = true;
    this.#connection.write(this.#number, new Uint8Array(0), done);
    this.#connection.directionEnded();
  }
}

/** Native errors carry the code of PROTOCOL 4. Any other error means that the frame could not be opened. */
function frameFailure(cause: unknown): KeibiError {
  if (cause instanceof KeibiError) return cause;
  const { code } = cause as { code?: unknown };
  const named = typeof code === 'string' && code.startsWith('FRAME_') && isErrorCode(code) ? code : 'FRAME_AUTH_FAILED';
  return new KeibiError(named, undefined, { cause });
}

function lost(cause?: unknown): KeibiError {
  return new KeibiError('SESSION_LOST', 'The connection to the peer was lost.', { cause });
}
