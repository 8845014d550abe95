// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';

/** The error for a contact that has not invited us. */
export function notInvited(name: string): KeibiError {
  const text = `${name} has not invited you to a share. Ask for it; there it is: keibidrop add DIR --to YOU.`;
  return new KeibiError('SHARE_UNKNOWN', text);
}

/** The error for an unknown share name. @param there  the names of the existing shares */
export function unknownShare(name: string, there: readonly string[]): KeibiError {
  const names = there.join(', ');
  const what = there.length === 0 ? 'Connect to one first: keibidrop connect CODE.' : `There is: ${names}.`;
  return new KeibiError('SHARE_UNKNOWN', `There is no share ${JSON.stringify(name)} here. ${what}`);
}
