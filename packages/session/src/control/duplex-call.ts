// SPDX-License-Identifier: MPL-2.0
import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { type ChannelInterface, type Deadline, type InterceptingListener, Metadata, status } from '@grpc/grpc-js';
import { MessageReader, prefixMessage } from './message-reader.ts';

/** The call interface inside grpc-js: messages are serialized bytes, and each `startRead` requests one message. */
export type GrpcCall = ReturnType<ChannelInterface['createCall']>;
type MessageContext = Parameters<GrpcCall['sendMessageWithContext']>[0];
type Status = Parameters<InterceptingListener['onReceiveStatus']>[0];

export interface DuplexCallOptions {
  session: ClientHttp2Session;
  /** `/package.Service/Method` */
  path: string;
  deadline: Deadline;
  maxMessageBytes: number;
}

/**
 * Runs one gRPC call as one HTTP/2 stream. It replaces the part of grpc-js below the call interface, without name
 * resolution, load balancing and retries.
 *
 * Messages are read from the stream only on request. An error status is reported at once, OK after the last message.
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class DuplexCall implements GrpcCall {
  readonly #options: DuplexCallOptions;
  readonly #reader: MessageReader;
  readonly #unread: Buffer[] = [];
  #stream: ClientHttp2Stream | undefined;
  #listener: InterceptingListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wanted = false;
  #delivering = false;
  #ended = false;
  #status: Status | undefined;
  #reported = false;

  constructor(options: DuplexCallOptions) {
    this.#options = options;
    this.#reader = new MessageReader(options.maxMessageBytes);
  }

  start(metadata: Metadata, listener: InterceptingListener): void {
    this.#listener = listener;
    const timeoutMs = Math.max(0, Number(this.#options.deadline) - Date.now());
    let stream: ClientHttp2Stream;
    try {
      stream = this.#options.session.request({
        ...metadata.toHttp2Headers(),
        ':method': 'POST',
        ':path': this.#options.path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...(Number.isFinite(timeoutMs) && { 'grpc-timeout': `${Math.min(Math.ceil(timeoutMs), 99_999_999)}m` }),
      });
    } catch {
      this.#finish(status.UNAVAILABLE, 'The connection is closed.');
      return;
    }
    this.#stream = stream;
    if (Number.isFinite(timeoutMs)) {
      this.#timer = setTimeout(() => this.cancelWithStatus(status.DEADLINE_EXCEEDED, 'Deadline exceeded.'), timeoutMs);
      this.#timer.unref();
    }
    stream.once('response', (headers, flags) => this.#receiveHeaders(headers, flags));
    stream.once('trailers', (headers) => this.#receiveTrailers(headers));
    stream.on('data', (piece: Buffer) => this.#receive(piece));
    stream.once('end', () => {
      this.#ended = true;
      this.#deliver();
    });
    // 'close' follows, with the reason in rstCode.
    stream.on('error', () => {});
    stream.once('close', () => this.#receiveClose(stream));
    stream.pause();
  }

  startRead(): void {
    this.#wanted = true;
    this.#deliver();
  }

  sendMessageWithContext(context: MessageContext, message: Buffer): void {
    if (message.length > this.#options.maxMessageBytes) {
      this.cancelWithStatus(status.RESOURCE_EXHAUSTED, `A message of ${message.length} bytes is too long to send.`);
      return;
    }
    // A failed write closes the stream, which ends the call.
    this.#stream?.write(prefixMessage(message), () => process.nextTick(() => context.callback?.()));
  }

  halfClose(): void {
    this.#stream?.end();
  }

  cancelWithStatus(code: status, details: string): void {
    this.#finish(code, details);
  }

  getPeer(): string {
    return 'peer';
  }

  getCallNumber(): number {
    return this.#stream?.id ?? 0;
  }

  getAuthContext(): null {
    return null;
  }

  /** Does nothing: the sealed channel has authenticated the peer, so calls need no credentials. */
  setCredentials(): void {}

  #receiveHeaders(headers: IncomingHttpHeaders, flags: number): void {
    if (flags & constants.NGHTTP2_FLAG_END_STREAM) this.#receiveTrailers(headers);
    else this.#listener?.onReceiveMetadata(Metadata.fromHttp2Headers(headers));
  }

  #receive(piece: Buffer): void {
    if (this.#reported) return;
    try {
      for (const message of this.#reader.feed(piece)) this.#unread.push(message);
    } catch (cause) {
      this.#finish(status.RESOURCE_EXHAUSTED, `The peer sent ${(cause as Error).message}.`);
      return;
    }
    this.#deliver();
  }

  #receiveTrailers(headers: IncomingHttpHeaders): void {
    const metadata = Metadata.fromHttp2Headers(headers);
    const code = Number(headers['grpc-status'] ?? status.UNKNOWN);
    const details = decodeDetails(String(headers['grpc-message'] ?? ''));
    metadata.remove('grpc-status');
    metadata.remove('grpc-message');
    this.#finish(code, details, metadata);
  }

  #receiveClose(stream: ClientHttp2Stream): void {
    this.#ended = true;
    const dropped = this.#options.session.destroyed || this.#options.session.closed;
    if (dropped || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
      this.#finish(status.UNAVAILABLE, 'The connection was lost.');
    } else if (stream.rstCode === constants.NGHTTP2_CANCEL) {
      this.#finish(status.CANCELLED, 'The peer cancelled the call.');
    } else {
      this.#finish(status.INTERNAL, `The call ended without a status (HTTP/2 code ${stream.rstCode}).`);
    }
    this.#deliver();
  }

  /** Delivers one message if the listener requested one, or the status once no message is left before it. */
  #deliver(): void {
    if (this.#delivering || this.#reported) return;
    const failed = this.#status !== undefined && this.#status.code !== status.OK;
    if (failed || (this.#status !== undefined && this.#ended && this.#unread.length === 0)) {
      this.#end(this.#status as Status);
    } else if (this.#wanted && this.#unread.length > 0) {
      this.#wanted = false;
      this.#delivering = true;
      // Deferred to the next tick because the listener requests the next message inside this callback.
      process.nextTick(() => {
        this.#delivering = false;
        if (!this.#reported) this.#listener?.onReceiveMessage(this.#unread.shift());
        this.#deliver();
      });
    }
    if (this.#unread.length > 0) this.#stream?.pause();
    else if (this.#wanted || this.#status !== undefined) this.#stream?.resume();
  }

  /** The first status is final, except that an error replaces an OK that was not yet reported. */
  #finish(code: status, details: string, metadata = new Metadata()): void {
    if (this.#reported || (this.#status !== undefined && this.#status.code !== status.OK)) return;
    if (this.#status !== undefined && this.#ended) return;
    this.#status = { code, details, metadata };
    clearTimeout(this.#timer);
    const stream = this.#stream;
    if (code !== status.OK) stream?.close(constants.NGHTTP2_CANCEL);
    else if (stream?.writableEnded === false) stream.end();
    this.#deliver();
  }

  #end(final: Status): void {
    this.#reported = true;
    this.#stream?.resume();
    process.nextTick(() => this.#listener?.onReceiveStatus(final));
  }
}

function decodeDetails(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
