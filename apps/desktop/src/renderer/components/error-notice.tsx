// SPDX-License-Identifier: MPL-2.0
import { useErrorText } from '../texts/errors.ts';
import { Notice } from './notice.tsx';

/** A call that failed, and what to do; nothing while none has. */
export function ErrorNotice({
  error,
  title,
}: {
  error: { code: string; message: string } | undefined;
  title?: string;
}) {
  const errorText = useErrorText();
  if (error === undefined) return null;
  return (
    <Notice look="danger" {...(title !== undefined && { title })}>
      <p>{errorText(error)}</p>
    </Notice>
  );
}
