// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';

/** Sorts by name in the language's order, blocked contacts last. Ignores presence, so that rows do not move. */
export function inOrder(contacts: readonly ContactView[], language: string): ContactView[] {
  const { compare } = new Intl.Collator(language, { numeric: true });
  return [...contacts].sort((a, b) => Number(a.blocked) - Number(b.blocked) || compare(a.name, b.name));
}
