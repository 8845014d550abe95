// SPDX-License-Identifier: MPL-2.0
import { MAX_MAILBOX_BODY_BYTES } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import { encodeServerMessage, type ServerMessage, tryDecodeServerMessage } from './server-message.ts';

const conversation = '0123456789abcdef'.repeat(2);
const server = 'fe'.repeat(16);
const mailbox = 'ab'.repeat(32);

describe('messages between servers', () => {
  it.each<[string, ServerMessage, string]>([
    ['enter', { kind: 'enter', conversation, server, mailbox }, `01${conversation}${server}${mailbox}`],
    ['entered', { kind: 'entered', conversation }, `02${conversation}`],
    ['body', { kind: 'body', conversation, body: Buffer.from('hi') }, `03${conversation}6869`],
    ['left', { kind: 'left', conversation, full: true }, `04${conversation}01`],
    ['takenOver', { kind: 'takenOver', mailbox }, `05${'00'.repeat(16)}${mailbox}`],
  ])('%s is encoded as documented, and decodes to the same message', (_kind, message, hex) => {
    const bytes = encodeServerMessage(message);
    expect(bytes.toString('hex')).toBe(hex);
    expect(tryDecodeServerMessage(bytes)).toEqual(message);
  });

  it.each([
    ['nothing', ''],
    ['an unknown kind', `06${conversation}`],
    ['enter without a mailbox', `01${conversation}${server}`],
    ['entered with more', `02${conversation}00`],
    ['a body that is too long', `03${conversation}${'00'.repeat(MAX_MAILBOX_BODY_BYTES + 1)}`],
    ['left without its byte', `04${conversation}`],
    ['takenOver of half a mailbox', `05${'00'.repeat(16)}${mailbox.slice(32)}`],
  ])('%s is rejected', (_what, hex) => {
    expect(tryDecodeServerMessage(Buffer.from(hex, 'hex'))).toBeUndefined();
  });
});
