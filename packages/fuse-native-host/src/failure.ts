// SPDX-License-Identifier: MPL-2.0
import { constants } from 'node:os';

const { errno } = constants;

/** The errno of a failed call for the kernel. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly errno: number;

  constructor(which: keyof typeof errno | number) {
    super(typeof which === 'number' ? `errno ${which}` : which);
    this.errno = typeof which === 'number' ? which : errno[which];
  }
}

/** The errno of any thrown value; EIO if it is unexpected. */
export function errnoOf(reason: unknown): number {
  if (reason instanceof Failure) return reason.errno;
  const { code } = reason as NodeJS.ErrnoException;
  return errno[code as keyof typeof errno] ?? errno.EIO;
}

export function isFailure(reason: unknown, ...which: (keyof typeof errno)[]): boolean {
  return reason instanceof Failure && which.some((name) => reason.errno === errno[name]);
}
