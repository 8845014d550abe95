// SPDX-License-Identifier: MPL-2.0
import en from './en/errors.json';
import { type TextKey, type Translate, useTexts } from './texts.ts';

type ErrorKey = keyof typeof en & TextKey;

/** What to do about a failure, in the language of the page. Where there is no text for its code, since each case has words of its own, what the daemon says, in English, is better than nothing. */
export function errorText(t: Translate, { code, message }: { code: string; message: string }): string {
  const key = `errors.${code}`;
  return isErrorKey(key) ? t(key) : message;
}

export function useErrorText(): (error: { code: string; message: string }) => string {
  const { t } = useTexts();
  return (error) => errorText(t, error);
}

function isErrorKey(key: string): key is ErrorKey {
  return key in en;
}
