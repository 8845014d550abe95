// SPDX-License-Identifier: MPL-2.0

/** Shorter strings occur by chance in megabytes of ciphertext. */
const MIN_SECRET_CHARACTERS = 6;

/** Those of `secrets` that occur in `wire` in any common encoding. */
export function secretsFoundIn(wire: Buffer, secrets: readonly string[]): string[] {
  return secrets
    .filter(({ length }) => length >= MIN_SECRET_CHARACTERS)
    .filter((secret) => formsOf(secret).some((form) => wire.includes(form)));
}

function formsOf(secret: string): Buffer[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64').slice(0, 4 * Math.floor(bytes.length / 3));
  return [bytes, Buffer.from(bytes.toString('hex')), Buffer.from(base64), Buffer.from(secret, 'utf16le')];
}
