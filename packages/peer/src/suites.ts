// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { hasHardwareAes } from '@keibidrop/native';
import { ALL_SUITES, type Suite, type SuiteOffer } from '@keibidrop/protocol';
import type { PathName } from './events.ts';

/** What this peer offers in a handshake: everything, or the one suite that was forced. */
export function suiteOffer(forced: Suite | undefined): SuiteOffer {
  return { suites: forced ? [forced] : ALL_SUITES, hardware: hasHardwareAes() };
}

/** The path of a connection to an address that was dialled without help of others. */
export function pathTo(address: string): PathName {
  const plain = address.replace(/^::ffff:/, '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.')) ? 'local' : 'direct';
}
