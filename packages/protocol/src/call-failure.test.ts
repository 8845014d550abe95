// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { callFailure, callFailureIn, failureDetails, systemErrorIn } from './call-failure.ts';
import { KeibiError } from './errors.ts';

describe('a failure of a call', () => {
  it('crosses the control plane with the error name of the system', () => {
    const details = failureDetails(callFailure('ENOTEMPTY'));
    expect(details).toBe('SHARE_CALL_FAILED:ENOTEMPTY');
    const failure = callFailureIn(details) as KeibiError;
    expect(failure).toMatchObject({ code: 'SHARE_CALL_FAILED', detail: { systemError: 'ENOTEMPTY', remote: true } });
    expect(systemErrorIn(failure)).toBe('ENOTEMPTY');
  });

  it.each(['ENOENT; rm -rf /', 'EFAULT', '', undefined, 'toString', '__proto__'])('is EIO for %j', (said) => {
    expect(callFailure(said).detail?.systemError).toBe('EIO');
    expect(systemErrorIn(callFailureIn(`SHARE_CALL_FAILED:${said}`))).toBe('EIO');
  });

  it('is distinct from other failures', () => {
    expect(callFailureIn('SHARE_NOT_FOUND')).toBeUndefined();
    expect(callFailureIn(undefined)).toBeUndefined();
    expect(systemErrorIn(new KeibiError('SHARE_NOT_FOUND'))).toBeUndefined();
    expect(failureDetails(new KeibiError('SHARE_NOT_FOUND'))).toBe('SHARE_NOT_FOUND');
    expect(systemErrorIn(callFailure('EOPNOTSUPP'))).toBe('ENOTSUP');
  });
});
