// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';
import { expect, it } from 'vitest';
import { inOrder } from './contact-order.ts';

it('sorts contacts in the order of the language, blocked ones last, without changing its input', () => {
  const contact = (name: string, more: Partial<ContactView> = {}) => ({ name, blocked: false, ...more }) as ContactView;
  const contacts = [
    contact('Zoe'),
    contact('Ärne'),
    contact('Adam', { blocked: true }),
    contact('bob', { online: true }),
  ];
  expect(inOrder(contacts, 'de').map(({ name }) => name)).toEqual(['Ärne', 'bob', 'Zoe', 'Adam']);
  expect(contacts[0]?.name).toBe('Zoe');
});
