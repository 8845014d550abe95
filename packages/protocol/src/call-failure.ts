// SPDX-License-Identifier: MPL-2.0
import { KeibiError, messageFor } from './errors.ts';

/** System errors that a call within a share may report; a peer can name no others (PROTOCOL 11.2). */
const NAMES = [
  'E2BIG',
  'EACCES',
  'EAGAIN',
  'EBUSY',
  'EDQUOT',
  'EEXIST',
  'EFBIG',
  'EINVAL',
  'EIO',
  'EISDIR',
  'ELOOP',
  'EMLINK',
  'ENAMETOOLONG',
  'ENODATA',
  'ENOENT',
  'ENOLCK',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'ENOTSUP',
  'EPERM',
  'ERANGE',
  'EROFS',
  'ESTALE',
  'ETXTBSY',
  'EXDEV',
] as const;

export type SystemErrorName = (typeof NAMES)[number];

export function isSystemErrorName(name: unknown): name is SystemErrorName {
  return (NAMES as readonly unknown[]).includes(name);
}

/** The error for a call within a share that the system there refused. @param said  its error name; an unknown one becomes EIO */
export function callFailure(said: unknown, options: { cause?: unknown; remote?: boolean } = {}): KeibiError {
  // EOPNOTSUPP and ENOTSUP are two names of one errno.
  const named = said === 'EOPNOTSUPP' ? 'ENOTSUP' : said;
  const systemError = isSystemErrorName(named) ? named : 'EIO';
  const { remote, ...rest } = options;
  return new KeibiError('SHARE_CALL_FAILED', messageFor('SHARE_CALL_FAILED', systemError), {
    ...rest,
    detail: { systemError, ...(remote !== undefined && { remote }) },
  });
}

/** The system's error name in a failed call; undefined for other errors. */
export function systemErrorIn(reason: unknown): SystemErrorName | undefined {
  if (!(reason instanceof KeibiError) || reason.code !== 'SHARE_CALL_FAILED') return undefined;
  const said = reason.detail?.systemError;
  return isSystemErrorName(said) ? said : 'EIO';
}

/** Encodes a failure for the details of a call's status: its code and the system's error name. */
export function failureDetails(failure: KeibiError): string {
  const said = systemErrorIn(failure);
  return said === undefined ? failure.code : `${failure.code}:${said}`;
}

/** Decodes a peer's `failureDetails`; undefined for another kind of failure. */
export function callFailureIn(details: string | undefined, options: { cause?: unknown } = {}): KeibiError | undefined {
  const [code, said] = details?.split(':') ?? [];
  return code === 'SHARE_CALL_FAILED' ? callFailure(said, { ...options, remote: true }) : undefined;
}
