// SPDX-License-Identifier: MPL-2.0
import { assertBytes } from './arguments.ts';
import { loadBinding } from './binding.ts';

interface MlKemBinding {
  mlKemGenerate?(publicKey: Uint8Array, secretKey: Uint8Array): void;
  mlKemEncapsulate(publicKey: Uint8Array, ciphertext: Uint8Array, sharedSecret: Uint8Array): void;
  mlKemDecapsulate(secretKey: Uint8Array, ciphertext: Uint8Array, sharedSecret: Uint8Array): void;
}

const PUBLIC_KEY_BYTES = 1568;
const SECRET_KEY_BYTES = 3168;
const CIPHERTEXT_BYTES = 1568;
const SHARED_SECRET_BYTES = 32;

/**
 * ML-KEM-1024 (FIPS 203): keys of 1568 and 3168 bytes, ciphertexts of 1568, secrets of 32. The caller wipes secret keys
 * and shared secrets.
 */
export interface MlKem1024 {
  keygen(): { publicKey: Uint8Array; secretKey: Uint8Array };
  /** @throws for a key of another length or with a coefficient out of range (FIPS 203 7.2) */
  encapsulate(publicKey: Uint8Array): { cipherText: Uint8Array; sharedSecret: Uint8Array };
  /** An altered ciphertext yields another secret, not an error. @throws for a ciphertext of another length */
  decapsulate(cipherText: Uint8Array, secretKey: Uint8Array): Uint8Array;
}

/** The addon's ML-KEM-1024; undefined where it was built with a libcrypto older than 3.5, which has none. */
export function mlKem1024(): MlKem1024 | undefined {
  const binding = loadBinding<MlKemBinding>();
  const { mlKemGenerate: generate } = binding;
  if (generate === undefined) return undefined;
  return {
    keygen() {
      const keys = { publicKey: new Uint8Array(PUBLIC_KEY_BYTES), secretKey: new Uint8Array(SECRET_KEY_BYTES) };
      generate(keys.publicKey, keys.secretKey);
      return keys;
    },
    encapsulate(publicKey) {
      assertBytes('publicKey', publicKey, PUBLIC_KEY_BYTES);
      const [cipherText, sharedSecret] = [new Uint8Array(CIPHERTEXT_BYTES), new Uint8Array(SHARED_SECRET_BYTES)];
      binding.mlKemEncapsulate(publicKey, cipherText, sharedSecret);
      return { cipherText, sharedSecret };
    },
    decapsulate(cipherText, secretKey) {
      assertBytes('cipherText', cipherText, CIPHERTEXT_BYTES);
      assertBytes('secretKey', secretKey, SECRET_KEY_BYTES);
      const sharedSecret = new Uint8Array(SHARED_SECRET_BYTES);
      binding.mlKemDecapsulate(secretKey, cipherText, sharedSecret);
      return sharedSecret;
    },
  };
}
