// SPDX-License-Identifier: MPL-2.0
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { fuseNativeBackend } from '@keibidrop/fuse-native-host';
import { KeibiError } from '@keibidrop/protocol';
import type { BackendName, MountBackend } from './backend.ts';
import { nativeBackend } from './native-backend.ts';

/** Best first. */
const BACKENDS: readonly MountBackend[] = [nativeBackend, fuseNativeBackend];

export function backendOf(name: BackendName): MountBackend {
  return BACKENDS.find((one) => one.name === name) as MountBackend;
}

/** The backend that mounts on this machine: the one that is asked for, or that KD_MOUNT_BACKEND names, or else the first that can. @throws MOUNT_UNAVAILABLE */
export async function usableBackend(wanted = process.env.KD_MOUNT_BACKEND): Promise<MountBackend> {
  const candidates = BACKENDS.filter(({ name }) => !wanted || name === wanted);
  if (candidates.length === 0) {
    const names = BACKENDS.map(({ name }) => name).join(' or ');
    throw new KeibiError(
      'MOUNT_UNAVAILABLE',
      `There is no backend "${wanted}" for mounts: KD_MOUNT_BACKEND is ${names}.`,
    );
  }
  const device = await access('/dev/fuse', constants.R_OK | constants.W_OK).then(
    () => undefined,
    ({ code }: NodeJS.ErrnoException) => code,
  );
  if (device !== undefined) throw new KeibiError('MOUNT_UNAVAILABLE', device === 'EACCES' ? NOT_OURS : NO_DEVICE);
  const reasons: string[] = [];
  for (const backend of candidates) {
    const reason = await backend.whyNot();
    if (reason === undefined) return backend;
    reasons.push(reason);
  }
  throw new KeibiError('MOUNT_UNAVAILABLE', reasons.join(' '));
}

const NO_DEVICE = 'There is no /dev/fuse. Load the kernel module (modprobe fuse), or give the container the device.';
/** fusermount3 opens the device as the user who called it. */
const NOT_OURS = 'This user may not open /dev/fuse. Run, as root: chmod 0666 /dev/fuse';

/** Why nothing can be mounted here, in a sentence with what to do; undefined if it can. */
export async function whyNotMountable(): Promise<string | undefined> {
  try {
    await usableBackend();
    return undefined;
  } catch (reason) {
    return (reason as KeibiError).message;
  }
}
