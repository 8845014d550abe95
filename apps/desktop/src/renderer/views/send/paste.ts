// SPDX-License-Identifier: MPL-2.0
import { useEffect } from 'react';
import type { Api } from '../../../shared/api.ts';
import { useApi } from '../../api/api-context.ts';
import { draftText, gather } from '../../store/draft.ts';

/** Adds files or text pasted on the page, outside its fields, to the draft. */
export function usePaste(): void {
  const api = useApi();
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      if (isField(event.target) || document.querySelector('dialog[open]') !== null) return;
      if (take(api, event.clipboardData)) event.preventDefault();
    };
    window.addEventListener('paste', onPaste);
    return () => window.removeEventListener('paste', onPaste);
  }, [api]);
}

/** The clipboard's text if the browser allows it; else an empty text to paste into. */
export async function pasteFromClipboard(): Promise<void> {
  draftText(await navigator.clipboard.readText().catch(() => ''));
}

function take(api: Api, data: DataTransfer | null): boolean {
  if (data === null) return false;
  if (data.files.length > 0) {
    void gather(api.gatherFiles(Array.from(data.files)));
    return true;
  }
  const text = data.getData('text/plain');
  if (text === '') return false;
  draftText(text);
  return true;
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, [contenteditable]') !== null;
}
