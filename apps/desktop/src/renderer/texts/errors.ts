// SPDX-License-Identifier: MPL-2.0
import en from './en/errors.json';
import type { TextKey, Translate } from './texts.ts';

type ErrorKey = keyof typeof en & TextKey;

/** A failure as the daemon reports it; the message is in English. */
export interface ReportedError {
  readonly code: string;
  readonly message: string;
}

/** Advice about a failure in the page's language, with the daemon's detail where that adds something. */
export interface ErrorWords {
  readonly text: string;
  readonly detail: string | undefined;
}

/** Codes with a general text in the catalogue; the daemon's message says what is wrong in each case. */
const EACH_ITS_OWN: readonly string[] = ['USAGE', 'CONFIG_INVALID', 'MOUNT_UNAVAILABLE'];

export function errorWords(t: Translate, { code, message }: ReportedError): ErrorWords {
  const key = `errors.${code}`;
  // An unknown code: show the daemon's message.
  if (!isErrorKey(key)) return { text: message, detail: undefined };
  return { text: t(key), detail: EACH_ITS_OWN.includes(code) ? message : undefined };
}

/** The same on one line. */
export function errorText(t: Translate, error: ReportedError): string {
  const { text, detail } = errorWords(t, error);
  return detail === undefined ? text : `${text} ${detail}`;
}

function isErrorKey(key: string): key is ErrorKey {
  return key in en;
}
