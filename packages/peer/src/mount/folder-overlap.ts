// SPDX-License-Identifier: MPL-2.0
import { mountsOfOurs } from '@keibidrop/mount';
import { KeibiError } from '@keibidrop/protocol';

/** Whether one of two folders is the other, or holds it. Both absolute, without symlinks. */
export function overlap(one: string, other: string): boolean {
  return holds(one, other) || holds(other, one);
}

function holds(folder: string, path: string): boolean {
  return folder === path || path.startsWith(folder === '/' ? folder : `${folder}/`);
}

/** What is shared must not be, hold or be held by what somebody else shares with us: it would be shown within itself. @throws TRANSFER_SOURCE_UNSUPPORTED */
export async function refuseMounted(folder: string): Promise<void> {
  const mounted = (await mountsOfOurs()).find((one) => overlap(one.folder, folder));
  if (mounted === undefined) return;
  const text = `${folder} cannot be shared: ${mounted.folder} is a mounted share. Unmount it first, or share another folder.`;
  throw new KeibiError('TRANSFER_SOURCE_UNSUPPORTED', text);
}
