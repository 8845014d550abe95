// SPDX-License-Identifier: MPL-2.0
import { isAbsolute } from 'node:path';
import type { Streaming, Unary } from '@keibidrop/daemon/local';
import { ApiError, type Preferences } from '../../shared/api.ts';
import type { Subscription } from '../../shared/channels.ts';
import type { RequestName, Requests } from '../../shared/requests.ts';

const MAX_PATH_LENGTH = 32_767;
const METHOD = /^[a-z][A-Za-z]{0,63}$/;

type Values = Readonly<Record<string, unknown>>;
type Checks = { readonly [K in RequestName]: (args: Values) => Requests[K]['args'] };

/** Checks the arguments of each request. Calls to the daemon are checked only in form: the daemon validates their content. */
const checks: Checks = {
  'daemon.call': ({ call, method, request }) => ({
    call: whole(call),
    method: methodOf(method) as Unary,
    request: object(request),
  }),
  'daemon.cancel': ({ call }) => ({ call: whole(call) }),
  'shell.pick': ({ what }) => ({ what: oneOf(['files', 'folders'], what) }),
  'shell.pickFolder': ({ start }) => ({ start: start === null || start === undefined ? null : path(start) }),
  'shell.reveal': (args) => ({ path: path(args.path) }),
  'shell.restartDaemon': () => ({}),
  'shell.preferences': () => ({}),
  'shell.changePreferences': preferencesOf,
};

/** @throws ApiError USAGE for invalid arguments */
export function argsOf<K extends RequestName>(name: K, args: unknown): Requests[K]['args'] {
  return checks[name](object(args) as Values);
}

/** Parses a subscription of the page; undefined if it is invalid. */
export function subscriptionOf(value: unknown): Subscription | undefined {
  try {
    const { id, method, request } = object(value) as Values;
    return { id: whole(id), method: methodOf(method) as Streaming, request: object(request) };
  } catch {
    return undefined;
  }
}

function preferencesOf({ theme, language, startAtLogin, closeToTray }: Values): Partial<Preferences> {
  return {
    ...(theme !== undefined && { theme: oneOf(['system', 'light', 'dark'], theme) }),
    ...(language !== undefined && { language: oneOf(['system', 'en', 'de', 'es'], language) }),
    ...(startAtLogin !== undefined && { startAtLogin: yesOrNo(startAtLogin) }),
    ...(closeToTray !== undefined && { closeToTray: yesOrNo(closeToTray) }),
  };
}

function object(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong();
  return value;
}

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw wrong();
  return value as number;
}

function methodOf(value: unknown): string {
  if (typeof value !== 'string' || !METHOD.test(value)) throw wrong();
  return value;
}

function yesOrNo(value: unknown): boolean {
  if (typeof value !== 'boolean') throw wrong();
  return value;
}

function oneOf<T extends string>(values: readonly T[], value: unknown): T {
  const found = values.find((each) => each === value);
  if (found === undefined) throw wrong();
  return found;
}

function path(value: unknown): string {
  const fits = typeof value === 'string' && value.length <= MAX_PATH_LENGTH && !value.includes('\0');
  if (!fits || !isAbsolute(value)) throw wrong();
  return value;
}

function wrong(): ApiError {
  return new ApiError('USAGE', 'The request is invalid.');
}
