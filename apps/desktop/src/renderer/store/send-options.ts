// SPDX-License-Identifier: MPL-2.0
import type { RequestOf } from '@keibidrop/daemon/local';

/** How peers may be reached, as chosen by the user. */
export interface ReachChoice {
  readonly way: 'any' | 'direct' | 'relay';
  /** Megabytes per second, as typed; empty: no limit. */
  readonly limit: string;
}

export interface SendOptions extends ReachChoice {
  /** Number of receivers; 0: unlimited, until cancelled. */
  readonly receivers: number;
  readonly incognito: boolean;
  /** Name to save the other side under; empty: do not save. */
  readonly save: string;
}

export const USUAL_SEND: SendOptions = { receivers: 1, incognito: false, save: '', way: 'any', limit: '' };

const MEGABYTE = 1e6;

/** Bytes per second; undefined for no limit, NaN for anything but a number above 0. Accepts a decimal comma. */
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

/** @param to  saved contacts; empty: anyone with the code */
export function sendRequestOf(options: SendOptions, to: readonly string[]): Partial<RequestOf<'send'>> {
  const { receivers, incognito } = options;
  const save = to.length === 0 && receivers === 1 ? savedAs(options) : undefined;
  return { receivers, incognito, to: [...to], reach: reachOf(options), ...(save !== undefined && { save }) };
}

/** Incognito transfers save no contact. */
export function savedAs({ save, incognito }: Pick<SendOptions, 'save' | 'incognito'>): string | undefined {
  return incognito || save.trim() === '' ? undefined : save.trim();
}
