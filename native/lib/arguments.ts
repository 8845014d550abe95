// SPDX-License-Identifier: MPL-2.0

/** A mistake of the caller: native code assumes valid arguments, so they are checked here. */
export function misuse(message: string): Error {
  return Object.assign(new TypeError(message), { code: 'INTERNAL' });
}

/** Memory that native code may use while it runs: of fixed size and not shared with other threads. */
export function assertBytes(name: string, value: unknown, bytes?: number): asserts value is Uint8Array {
  if (!(value instanceof Uint8Array)) throw misuse(`${name} must be a Uint8Array`);
  const { buffer } = value as { buffer: ArrayBufferLike & { resizable?: boolean } };
  if (!(buffer instanceof ArrayBuffer) || buffer.resizable) throw misuse(`${name} must not be shared or resizable`);
  if (bytes !== undefined && value.byteLength !== bytes) throw misuse(`${name} must be ${bytes} bytes long`);
}

/** Text that the system accepts as a path or an address: a NUL would cut it short. */
export function assertText(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value.includes('\0')) throw misuse(`${name} must be a string without NUL`);
}

export function assertBoolean(name: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw misuse(`${name} must be true or false`);
}

export function assertFunction(name: string, value: unknown): asserts value is () => void {
  if (typeof value !== 'function') throw misuse(`${name} must be a function`);
}

/** A whole number from `least` to `most`. */
export function assertInteger(name: string, value: unknown, least: number, most: number): asserts value is number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return;
  throw misuse(`${name} must be a whole number from ${least} to ${most}`);
}
