// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import { useEffect } from 'react';
import { create } from 'zustand';
import { useDaemon } from './daemon-store.ts';
import { useReceiveOptions } from './receive-options.ts';

/** A receive started with the code in the field. */
interface Tried {
  readonly code: string;
  readonly transfer: number;
}

interface ReceiveCode {
  /** As typed. */
  readonly code: string;
  /** Address of the nearby sender that the code belongs to. */
  readonly near: string | undefined;
  readonly tried: Tried | undefined;
}

/** The code field. Keeps the typed code until the sender has accepted it, also while another view is open. */
export const useReceiveCode = create<ReceiveCode>()(() => ({ code: '', near: undefined, tried: undefined }));

export function setReceiveCode(code: string): void {
  useReceiveCode.setState(code === '' ? { code, near: undefined } : { code });
}

/** State of the receive that the code in the field has started; `failed` carries that receive. */
export type Trial = { state: 'none' } | { state: 'trying' } | { state: 'failed'; transfer: TransferView };

const NONE: Trial = { state: 'none' };

/** Follows the receive started with `code`, and empties the field once the sender has accepted the code. */
export function useTrial(code: string | undefined): Trial {
  const tried = useReceiveCode((state) => state.tried);
  const transfer = useDaemon(({ transfers }) => tried && transfers.get(tried.transfer));
  const isSame = tried !== undefined && tried.code === code;
  const taken = transfer !== undefined && isTaken(transfer);
  useEffect(() => {
    if (!taken) return;
    useReceiveCode.setState({ tried: undefined, ...(isSame && { code: '', near: undefined }) });
    useReceiveOptions.setState({ save: '' });
  }, [taken, isSame]);
  return isSame && transfer !== undefined ? trialOf(transfer) : NONE;
}

function trialOf(transfer: TransferView): Trial {
  if (transfer.state === 'failed') return { state: 'failed', transfer };
  return transfer.state === 'queued' || transfer.state === 'waiting' ? { state: 'trying' } : NONE;
}

function isTaken({ state, sessions }: TransferView): boolean {
  return state === 'asking' || state === 'done' || sessions > 0;
}
