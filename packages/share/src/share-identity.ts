// SPDX-License-Identifier: MPL-2.0
import { createHmac } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';

/** A secret of the system from which programs derive identifiers (machine-id(5)): never reveal it. */
const MACHINE = '/etc/machine-id';
export const SHARE_ID_BYTES = 16;

/** Identifies a shared path, the same each time, without revealing it. @param path  absolute, without symlinks */
export async function shareIdentity(path: string): Promise<Uint8Array> {
  const machine = await readFile(MACHINE, 'utf8').catch(() => '');
  const { ino } = await stat(path, { bigint: true });
  const key = machine.trim() || hostname();
  return createHmac('sha256', key).update(`KeibiDrop share\0${ino}\0${path}`).digest().subarray(0, SHARE_ID_BYTES);
}
