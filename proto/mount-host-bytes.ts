// SPDX-License-Identifier: MPL-2.0
import { rules } from './gen/mount-host-rules.ts';

const { HEAD_BYTES, MAX_MESSAGE_BYTES, KEY_BYTES } = rules;

/**
 * Parses the body of a message. Every method throws a RangeError if the body is too short.
 *
 * @public  used by generated code
 */
export class BodyReader {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  get left(): number {
    return this.#body.length - this.#at;
  }

  u8(): number {
    return this.#body.readUInt8(this.#advance(1));
  }

  u16(): number {
    return this.#body.readUInt16BE(this.#advance(2));
  }

  u32(): number {
    return this.#body.readUInt32BE(this.#advance(4));
  }

  u64(): bigint {
    return this.#body.readBigUInt64BE(this.#advance(8));
  }

  size(): number {
    return Number(this.u64());
  }

  time(): bigint {
    return this.#body.readBigInt64BE(this.#advance(8));
  }

  flag(): boolean {
    return this.u8() === 1;
  }

  id(): Uint8Array {
    return new Uint8Array(this.#take(8));
  }

  key(): string {
    return this.#take(KEY_BYTES).toString('latin1');
  }

  text(): string {
    return this.#take(this.u16()).toString('utf8');
  }

  rest(): string {
    return this.bytes().toString('utf8');
  }

  bytes(): Buffer {
    return this.#take(this.left);
  }

  name<const T>(names: readonly T[]): NonNullable<T> {
    const name = names[this.u8()];
    if (name === undefined || name === null) throw new RangeError('A name is unknown.');
    return name;
  }

  list<T>(read: () => T): T[] {
    const count = this.u32();
    if (count > this.left) throw new RangeError('A list is cut off.');
    return Array.from({ length: count }, read);
  }

  toEnd<T>(read: () => T): T[] {
    const all: T[] = [];
    while (this.left > 0) all.push(read());
    return all;
  }

  #take(length: number): Buffer {
    const from = this.#advance(length);
    return this.#body.subarray(from, this.#at);
  }

  #advance(length: number): number {
    const from = this.#at;
    if (length > this.left) throw new RangeError('A message is cut off.');
    this.#at += length;
    return from;
  }
}

/**
 * Builds a message: its head, then its fields.
 *
 * @public  used by generated code
 */
export class BodyWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  u8(value: number): void {
    this.bytes(Uint8Array.of(value));
  }

  u16(value: number): void {
    const bytes = Buffer.allocUnsafe(2);
    bytes.writeUInt16BE(value);
    this.bytes(bytes);
  }

  u32(value: number): void {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32BE(value);
    this.bytes(bytes);
  }

  u64(value: bigint): void {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigUInt64BE(value);
    this.bytes(bytes);
  }

  size(value: number): void {
    this.u64(BigInt(value));
  }

  time(value: bigint): void {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64BE(value);
    this.bytes(bytes);
  }

  flag(value: boolean): void {
    this.u8(Number(value));
  }

  id(value: Uint8Array): void {
    this.bytes(value);
  }

  key(value: string): void {
    this.bytes(Buffer.from(value, 'latin1'));
  }

  text(value: string): void {
    const bytes = Buffer.from(value);
    this.u16(bytes.length);
    this.bytes(bytes);
  }

  rest(value: string): void {
    this.bytes(Buffer.from(value));
  }

  bytes(value: Uint8Array): void {
    this.#parts.push(value);
    this.#length += value.length;
  }

  name<T>(names: readonly T[], value: NonNullable<T>): void {
    this.u8(names.indexOf(value));
  }

  list<T>(values: readonly T[], write: (value: T) => void): void {
    this.u32(values.length);
    this.toEnd(values, write);
  }

  toEnd<T>(values: readonly T[], write: (value: T) => void): void {
    for (const value of values) write(value);
  }

  body(): Buffer {
    return Buffer.concat(this.#parts, this.#length);
  }

  message(type: number, request: number): Buffer {
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32BE(HEAD_BYTES - 4 + this.#length, 0);
    head.writeUInt8(type, 4);
    head.writeUInt32BE(request, 5);
    return Buffer.concat([head, ...this.#parts], HEAD_BYTES + this.#length);
  }
}

/** Cuts bytes, as they come, into messages. @throws RangeError for a length that no message has */
export function cutMessages<T>(
  decode: (type: number, request: number, body: Buffer) => T,
): (bytes: Buffer) => Generator<T> {
  let rest: Buffer = Buffer.alloc(0);
  return function* take(bytes) {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32BE(0);
      if (length < HEAD_BYTES - 4 || length > MAX_MESSAGE_BYTES) throw new RangeError('A message has no such length.');
      if (rest.length < 4 + length) return;
      const message = rest.subarray(4, 4 + length);
      rest = rest.subarray(4 + length);
      yield decode(message.readUInt8(0), message.readUInt32BE(1), message.subarray(HEAD_BYTES - 4));
    }
  };
}
