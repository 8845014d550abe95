// SPDX-License-Identifier: MPL-2.0
import type { RequestOf } from '@keibidrop/peer/local';

/** How peers may be reached, as far as a person chooses it. */
export interface ReachChoice {
  readonly way: 'any' | 'direct' | 'relay';
  /** Megabytes a second, as it was typed; empty: no limit. */
  readonly limit: string;
}

export interface SendOptions extends ReachChoice {
  /** How many may take it; 0: until it is cancelled. */
  readonly receivers: number;
  readonly incognito: boolean;
  /** The name under which the other side is kept; empty: it is not. */
  readonly save: string;
}

export const USUAL_SEND: SendOptions = { receivers: 1, incognito: false, save: '', way: 'any', limit: '' };

const MEGABYTE = 1e6;

/** Bytes a second, undefined for none, NaN for what is no number above 0. A comma is a point. */
export function limitOf(text: string): number | undefined {
  const trimmed = text.trim().replace(',', '.');
  if (trimmed === '') return undefined;
  const bytes = /^\d+(\.\d+)?$/.test(trimmed) ? Math.floor(Number(trimmed) * MEGABYTE) : 0;
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : Number.NaN;
}

export function reachOf({ way, limit }: ReachChoice): NonNullable<RequestOf<'send'>['reach']> {
  const bytes = limitOf(limit);
  const limited = bytes === undefined || Number.isNaN(bytes) ? {} : { limit: bytes };
  return { directOnly: way === 'direct', relayOnly: way === 'relay', ...limited };
}

/** @param to  contacts, who are kept already; nobody: whoever has the code */
export function sendRequestOf(options: SendOptions, to: readonly string[]): Partial<RequestOf<'send'>> {
  const { receivers, incognito } = options;
  const save = to.length === 0 && receivers === 1 ? savedAs(options) : undefined;
  return { receivers, incognito, to: [...to], reach: reachOf(options), ...(save !== undefined && { save }) };
}

/** Who leaves no trace keeps nobody. */
export function savedAs({ save, incognito }: Pick<SendOptions, 'save' | 'incognito'>): string | undefined {
  return incognito || save.trim() === '' ? undefined : save.trim();
}
