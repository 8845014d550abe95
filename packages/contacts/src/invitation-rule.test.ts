// SPDX-License-Identifier: MPL-2.0
import type { Invitation, Verdict } from '@keibidrop/protocol';
import { describe, expect, it } from 'vitest';
import type { Contact } from './contact.ts';
import { decideInvitation, MAX_WAITING } from './invitation-rule.ts';
import { type ReceivedInvitation, ReceivedInvitations } from './received-invitations.ts';

const FILES = { to: 'files' } as const;
const ASK = { blocked: false, rule: { kind: 'ask' } } as const;
const NEVER = { blocked: false, rule: { kind: 'never' } } as const;
const ACCEPT = { blocked: false, rule: { kind: 'accept', folder: '/srv/in' } } as const;

describe('an invitation', () => {
  it.each([
    ['of a contact without a rule is asked about', ASK, FILES, 0, { do: 'ask' }],
    ['of one whose rule accepts is taken', ACCEPT, FILES, 0, { do: 'take', folder: '/srv/in' }],
    ['to a text is taken as well', ACCEPT, { to: 'text' }, 0, { do: 'take', folder: '/srv/in' }],
    ['to a share is asked about all the same', ACCEPT, { to: 'share' }, 0, { do: 'ask' }],
    ['of one whose rule refuses is refused', NEVER, FILES, 0, { do: 'refuse', verdict: 'refused' }],
    [
      'of one that is blocked is, whatever the rule',
      { ...ACCEPT, blocked: true },
      FILES,
      0,
      { do: 'refuse', verdict: 'blocked' },
    ],
    ['has to wait for room', ACCEPT, FILES, MAX_WAITING, { do: 'refuse', verdict: 'busy' }],
    ['is refused without a word about room', NEVER, FILES, MAX_WAITING, { do: 'refuse', verdict: 'refused' }],
  ] as const)('%s', (_what, contact, invitation, waiting, decision) => {
    expect(decideInvitation(contact, invitation, waiting)).toEqual(decision);
  });
});

describe('the invitations of one contact', () => {
  const contact = { ...ASK, name: 'Anna' } as unknown as Contact;
  const invitation = (number: number): Invitation => {
    return { id: new Uint8Array(16).fill(number), code: '7-guitar-pencil', to: 'files', label: 'photos' };
  };

  function received() {
    const came: ReceivedInvitation[] = [];
    const verdicts: Verdict[] = [];
    const from = {
      send: (message: { kind: string; verdict?: Verdict }) => void (message.verdict && verdicts.push(message.verdict)),
    };
    return { invitations: new ReceivedInvitations((one) => came.push(one)), came, verdicts, from };
  }

  it('are reported once, however often they arrive, and get the same answer afterwards', () => {
    const { invitations, came, verdicts, from } = received();
    for (let i = 0; i < 3; i++) invitations.take(contact, invitation(1), from);
    expect(came).toHaveLength(1);
    came[0]?.answer('declined');
    invitations.take(contact, invitation(1), from);
    expect(verdicts).toEqual(['asked', 'asked', 'asked', 'declined', 'declined']);
  });

  it('are kept up to a limit, and make room when they are answered or withdrawn', () => {
    const { invitations, came, verdicts, from } = received();
    for (let i = 0; i <= MAX_WAITING; i++) invitations.take(contact, invitation(i), from);
    expect(came).toHaveLength(MAX_WAITING);
    expect(verdicts.at(-1)).toBe('busy');
    invitations.withdraw(invitation(0).id);
    expect(came[0]?.signal.aborted).toBe(true);
    came[1]?.answer('taken');
    for (const number of [100, 101, 102]) invitations.take(contact, invitation(number), from);
    expect(came).toHaveLength(MAX_WAITING + 2);
    invitations.close();
    expect(came.filter(({ signal }) => signal.aborted)).toHaveLength(MAX_WAITING + 1);
  });
});
