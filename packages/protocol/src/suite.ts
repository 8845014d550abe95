// SPDX-License-Identifier: MPL-2.0

/** The AEAD for everything a session sends after its handshake. */
export type Suite = 'aes-256-gcm' | 'chacha20-poly1305';

/** Every suite this version supports, in the order of preference between peers with hardware AES. */
export const ALL_SUITES: readonly Suite[] = ['aes-256-gcm', 'chacha20-poly1305'];

/** A peer's part in the choice, as in its handshake message (PROTOCOL 3). */
export interface SuiteOffer {
  readonly suites: readonly Suite[];
  /** Whether the peer has hardware AES. */
  readonly hardware: boolean;
}

const suiteBits = { 'aes-256-gcm': 1, 'chacha20-poly1305': 2 } as const satisfies Record<Suite, number>;

const suiteLabels = {
  'aes-256-gcm': 'KeibiDrop-AES-256-GCM-SEK',
  'chacha20-poly1305': 'KeibiDrop-ChaCha20-Poly1305-SEK',
} as const satisfies Record<Suite, string>;

/** The LABEL of PROTOCOL 3, which begins the label of every key derived for `suite`. */
export function suiteLabel(suite: Suite): string {
  return suiteLabels[suite];
}

/** The `suites` byte of PROTOCOL 3. */
export function suitesToBits(suites: readonly Suite[]): number {
  return suites.reduce((bits, suite) => bits | suiteBits[suite], 0);
}

/** The known suites of a `suites` byte; ignores bits of later versions. */
export function suitesFromBits(bits: number): Suite[] {
  return ALL_SUITES.filter((suite) => (bits & suiteBits[suite]) !== 0);
}

/**
 * The suite two peers use; both sides compute the same (PROTOCOL 3).
 *
 * @returns undefined if they have none in common
 */
export function chooseSuite(self: SuiteOffer, peer: SuiteOffer): Suite | undefined {
  const common = (suite: Suite) => self.suites.includes(suite) && peer.suites.includes(suite);
  if (!common('chacha20-poly1305')) return common('aes-256-gcm') ? 'aes-256-gcm' : undefined;
  return common('aes-256-gcm') && self.hardware && peer.hardware ? 'aes-256-gcm' : 'chacha20-poly1305';
}
