// SPDX-License-Identifier: MPL-2.0
import { errorWords, type ReportedError } from '../../texts/errors.ts';
import { useTexts } from '../../texts/texts.ts';
import { harmless } from '../content/peer-text.tsx';
import { Notice } from './notice.tsx';

/** A failed call and what to do about it; nothing without an error. The daemon's own words appear below a headline. */
export function ErrorNotice({ error, title }: { error: ReportedError | undefined; title?: string }) {
  const { t } = useTexts();
  if (error === undefined) return null;
  const { text, detail } = errorWords(t, error);
  const head = title ?? (detail === undefined ? undefined : text);
  return (
    <Notice look="danger" {...(head !== undefined && { title: head })}>
      {head !== text && <p>{text}</p>}
      {detail !== undefined && <p lang="en">{harmless(detail)}</p>}
    </Notice>
  );
}
