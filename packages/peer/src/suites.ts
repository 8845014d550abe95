// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { isPrivateAddress } from '@keibidrop/discovery';
import { hasHardwareAes } from '@keibidrop/native';
import { ALL_SUITES, type Suite, type SuiteOffer } from '@keibidrop/protocol';
import type { PathName } from './events.ts';

const BETTER_THAN_RELAY: readonly PathName[] = ['local', 'lan', 'direct', 'mapped', 'punched'];

/** This peer's offer in a handshake: every suite, or the one that was forced. */
export function suiteOffer(forced: Suite | undefined): SuiteOffer {
  return { suites: forced ? [forced] : ALL_SUITES, hardware: hasHardwareAes() };
}

/** Checks the path to which a peer says that the lanes of a relayed session have moved; undefined for anything else. */
export function betterPathOf(reported: string): PathName | undefined {
  return BETTER_THAN_RELAY.find((path) => path === reported);
}

/**
 * The path of a connection that was dialled without help of others.
 *
 * @param address  of the peer
 * @param own  our address on that connection
 * @param lan  the network was searched for the peer, or the peer may have searched it for us
 */
export function pathTo(
  address: string,
  { own, lan = false }: { own?: string | undefined; lan?: boolean } = {},
): PathName {
  const plain = address.replace(/^::ffff:/, '');
  if (plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.')) || address === own) return 'local';
  return lan && isPrivateAddress(plain) ? 'lan' : 'direct';
}
