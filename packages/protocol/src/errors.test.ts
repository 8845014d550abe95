// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from './error-table.ts';
import {
  exitCodeOf,
  grpcStatusOf,
  isErrorCode,
  isWireCode,
  KeibiError,
  messageFor,
  peerError,
  retryOf,
} from './errors.ts';

describe('KeibiError', () => {
  it('has the text of its code by default, or the given one', () => {
    expect(new KeibiError('CODE_WRONG').message).toBe(messageFor('CODE_WRONG'));
    expect(new KeibiError('CODE_WRONG', 'No.').message).toBe('No.');
  });

  it('carries its code, detail and cause', () => {
    const cause = new Error('ECONNREFUSED');
    const error = new KeibiError('PEER_UNREACHABLE', undefined, { cause, detail: { attempts: 2 } });
    expect(error).toMatchObject({ name: 'KeibiError', code: 'PEER_UNREACHABLE', detail: { attempts: 2 }, cause });
    expect(error).toBeInstanceOf(Error);
    expect('cause' in new KeibiError('USAGE')).toBe(false);
  });

  it('is returned unchanged by from()', () => {
    const error = new KeibiError('CODE_WRONG');
    expect(KeibiError.from(error, 'INTERNAL')).toBe(error);
  });

  it.each([
    { reason: new Error('broken'), code: 'SESSION_LOST' },
    { reason: 'a string', code: 'SESSION_LOST' },
    { reason: undefined, code: 'SESSION_LOST' },
    { reason: Object.assign(new Error('no'), { code: 'ECONNRESET' }), code: 'SESSION_LOST' },
    { reason: Object.assign(new Error('no'), { code: 'FRAME_REPLAYED' }), code: 'FRAME_REPLAYED' },
    { reason: Object.assign(new Error('no'), { code: 'toString' }), code: 'SESSION_LOST' },
    { reason: AbortSignal.abort().reason, code: 'CANCELLED' },
  ])('is made from $reason as $code', ({ reason, code }) => {
    expect(KeibiError.from(reason, 'SESSION_LOST')).toMatchObject({ code, cause: reason });
  });

  it('gives the reason of a bug', () => {
    expect(KeibiError.from(new TypeError('x is not a function'), 'INTERNAL').message).toContain('x is not a function');
  });
});

describe('a limit of the system', () => {
  const lack = (code: string) => Object.assign(new Error('open /x'), { code });

  it.each([
    [lack('EMFILE'), 'SYSTEM_LIMIT'],
    [new Error('outer', { cause: lack('ENFILE') }), 'SYSTEM_LIMIT'],
    [lack('ERR_MODULE_NOT_FOUND'), 'PROGRAM_INCOMPLETE'],
    [lack('PROGRAM_INCOMPLETE'), 'PROGRAM_INCOMPLETE'],
    [lack('PLATFORM_UNSUPPORTED'), 'PLATFORM_UNSUPPORTED'],
  ] as const)('is no bug of ours: %s', (reason, code) => {
    const error = KeibiError.from(reason, 'INTERNAL');
    expect(error).toMatchObject({ code, message: expect.stringContaining(reason.message) });
    expect(exitCodeOf(error)).toBe(1);
  });

  it('keeps a fallback other than INTERNAL', () => {
    expect(KeibiError.from(lack('EMFILE'), 'SESSION_LOST').code).toBe('SESSION_LOST');
  });
});

describe("a peer's error", () => {
  it('keeps a known code', () => {
    expect(peerError('TRANSFER_DISK_FULL')).toMatchObject({ code: 'TRANSFER_DISK_FULL', detail: { remote: true } });
  });

  it.each(['INTERNAL', 'SYSTEM_LIMIT', 'OF_A_LATER_VERSION'])(
    '%s is named as an error of the peer, never as our bug',
    (code) => {
      const error = peerError(code);
      expect(error.code).toBe('PEER_FAILED');
      expect(error.message).toMatch(new RegExp(`^${code}: The other side`));
      expect(error.message).not.toContain('bug');
      expect(exitCodeOf(error)).toBe(1);
    },
  );

  it.each(['', 'toString', '\u001b[2J', 'A'.repeat(65)])('%j is not repeated', (code) => {
    expect(peerError(code).message).toBe(messageFor('PEER_FAILED'));
  });

  it('is distinguished from messages of the transport', () => {
    const details = ['SESSION_LOST', 'OF_A_LATER_VERSION', 'INTERNAL', 'Connection dropped', 'CANCELLED by peer', ''];
    expect(details.map(isWireCode)).toEqual([true, true, true, false, false, false]);
  });
});

describe('the table of errors', () => {
  it('has its own codes and no others', () => {
    expect(ERROR_CODES.every(isErrorCode)).toBe(true);
    expect(['', 'code_wrong', 'toString', '__proto__', 'CODE_WRONG '].some(isErrorCode)).toBe(false);
  });

  it.each(ERROR_CODES)('has a valid text, exit code, gRPC status and retry for %s', (code) => {
    expect(messageFor(code)).toMatch(/^[A-Z].*\.$/);
    expect(messageFor(code).length).toBeLessThanOrEqual(140);
    expect([1, 2, 3, 4, 5, 6, 70, 130]).toContain(exitCodeOf(new KeibiError(code)));
    expect(grpcStatusOf(code)).toBeGreaterThan(0);
    expect(grpcStatusOf(code)).toBeLessThanOrEqual(16);
    expect(['never', 'later', 'reconnect']).toContain(retryOf(code));
  });

  // docs/cli.md: 1 failed, 2 usage, 3 refused or wrong code, 4 not reachable, 5 interrupted but resumable, 6 no mount, 70 our bug, 130 Ctrl-C.
  it.each([
    ['USAGE', 2],
    ['CONFIG_INVALID', 2],
    ['CODE_MALFORMED', 2],
    ['CODE_TOO_WEAK', 2],
    ['CODE_WRONG', 3],
    ['CODE_EXHAUSTED', 3],
    ['HANDSHAKE_TAMPERED', 3],
    ['FRAME_TRUNCATED', 3],
    ['OFFER_DECLINED', 3],
    ['PEER_UNREACHABLE', 4],
    ['PEER_BUSY', 4],
    ['HANDSHAKE_TIMEOUT', 4],
    ['SESSION_CLOSED', 5],
    ['SESSION_LOST', 5],
    ['MOUNT_BUSY', 6],
    ['TRANSFER_INCOMPLETE', 1],
    ['INTERNAL', 70],
    ['CANCELLED', 130],
  ] as const)('exits %s with %i', (code, exit) => {
    expect(exitCodeOf(new KeibiError(code))).toBe(exit);
  });

  it('exits with 5 if a failed command can be resumed', () => {
    const full = (resumable: boolean) => new KeibiError('TRANSFER_DISK_FULL', undefined, { detail: { resumable } });
    expect([full(true), full(false)].map(exitCodeOf)).toEqual([5, 1]);
    expect(exitCodeOf(new KeibiError('CODE_WRONG', undefined, { detail: { resumable: true } }))).toBe(3);
  });

  it('puts the subject in front of a text', () => {
    expect(messageFor('TRANSFER_SOURCE_MISSING', 'photos/a.jpg')).toMatch(/^photos\/a\.jpg: The file is not there\./);
  });
});
