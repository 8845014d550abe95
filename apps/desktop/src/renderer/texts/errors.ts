// SPDX-License-Identifier: MPL-2.0
import en from './en/errors.json';
import type { TextKey, Translate } from './texts.ts';

type ErrorKey = keyof typeof en & TextKey;

/** A failure as the daemon tells it; the message is in English. */
export interface ToldError {
  readonly code: string;
  readonly message: string;
}

/** What to do about a failure, in the language of the page, and what only the daemon can say of this one. */
export interface ErrorWords {
  readonly text: string;
  readonly detail: string | undefined;
}

/** Each case of these has words of its own: the catalogue says what kind it is. */
const EACH_ITS_OWN: readonly string[] = ['USAGE', 'CONFIG_INVALID', 'MOUNT_UNAVAILABLE'];

export function errorWords(t: Translate, { code, message }: ToldError): ErrorWords {
  const key = `errors.${code}`;
  // What this page does not know the daemon has words for.
  if (!isErrorKey(key)) return { text: message, detail: undefined };
  return { text: t(key), detail: EACH_ITS_OWN.includes(code) ? message : undefined };
}

/** The same in one line. */
export function errorText(t: Translate, error: ToldError): string {
  const { text, detail } = errorWords(t, error);
  return detail === undefined ? text : `${text} ${detail}`;
}

function isErrorKey(key: string): key is ErrorKey {
  return key in en;
}
