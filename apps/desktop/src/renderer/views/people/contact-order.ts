// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/peer/local';

/** By name, as the language has it; whoever is blocked comes last. It does not depend on presence, so that rows stay where they are. */
export function inOrder(contacts: readonly ContactView[], language: string): ContactView[] {
  const { compare } = new Intl.Collator(language, { numeric: true });
  return [...contacts].sort((a, b) => Number(a.blocked) - Number(b.blocked) || compare(a.name, b.name));
}
