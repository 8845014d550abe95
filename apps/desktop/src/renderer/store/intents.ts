// SPDX-License-Identifier: MPL-2.0
import { useEffect } from 'react';
import { create } from 'zustand';
import type { Intent } from '../../shared/api.ts';

type Waiting = Exclude<Intent, { kind: 'view' }>;
type OfKind<K extends Waiting['kind']> = Extract<Waiting, { kind: K }>;

/** The last intent from outside the page that no view has taken yet. */
const useIntents = create<{ waiting: Waiting | undefined }>()(() => ({ waiting: undefined }));

export function putIntent(intent: Waiting): void {
  useIntents.setState({ waiting: intent });
}

/** Gives a view each intent of its kind once, even if the view opens later. */
export function useIntent<K extends Waiting['kind']>(kind: K, onIntent: (intent: OfKind<K>) => void): void {
  const waiting = useIntents((intents) => intents.waiting);
  useEffect(() => {
    if (waiting?.kind !== kind) return;
    useIntents.setState({ waiting: undefined });
    onIntent(waiting as OfKind<K>);
  });
}
