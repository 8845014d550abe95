// SPDX-License-Identifier: MPL-2.0
import { KeibiError, messageFor } from './errors.ts';

/** What a system may say of a call within a share; another peer can name no others (PROTOCOL 11.2). */
const NAMES = [
  'E2BIG',
  'EACCES',
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

/** A call within a share that the system there has refused. @param said  what it said; EIO for what nobody may name */
export function callFailure(said: unknown, options: { cause?: unknown; remote?: boolean } = {}): KeibiError {
  // The same errno has two names.
  const named = said === 'EOPNOTSUPP' ? 'ENOTSUP' : said;
  const systemError = isSystemErrorName(named) ? named : 'EIO';
  const { remote, ...rest } = options;
  return new KeibiError('SHARE_CALL_FAILED', messageFor('SHARE_CALL_FAILED', systemError), {
    ...rest,
    detail: { systemError, ...(remote !== undefined && { remote }) },
  });
}

/** What the system said, if this is a failure of a call. */
export function systemErrorIn(reason: unknown): SystemErrorName | undefined {
  if (!(reason instanceof KeibiError) || reason.code !== 'SHARE_CALL_FAILED') return undefined;
  const said = reason.detail?.systemError;
  return isSystemErrorName(said) ? said : 'EIO';
}

/** How a failure crosses the control plane, in the details of a call's status: its code, and what the system said. */
export function failureDetails(failure: KeibiError): string {
  const said = systemErrorIn(failure);
  return said === undefined ? failure.code : `${failure.code}:${said}`;
}

/** The failure that another peer has told by `failureDetails`; undefined if it is none of this kind. */
export function callFailureIn(details: string | undefined, options: { cause?: unknown } = {}): KeibiError | undefined {
  const [code, said] = details?.split(':') ?? [];
  return code === 'SHARE_CALL_FAILED' ? callFailure(said, { ...options, remote: true }) : undefined;
}
