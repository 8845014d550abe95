// SPDX-License-Identifier: MPL-2.0
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTexts } from '../../texts/texts.ts';
import { Button, type ButtonProps } from './button.tsx';

const SAID_MS = 2000;

export interface CopyButtonProps extends Pick<ButtonProps, 'look' | 'iconOnly'> {
  text: string;
  /** "Copy" if absent. */
  label?: string;
}

/** Copies a text to the clipboard and confirms it. */
export function CopyButton({ text, label, ...rest }: CopyButtonProps) {
  const { t } = useTexts();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <>
      <Button icon={copied ? Check : Copy} onClick={async () => setCopied(await copyText(text))} {...rest}>
        {copied ? t('frame.copied') : (label ?? t('frame.copy'))}
      </Button>
      <span className="spoken" role="status">
        {copied ? t('frame.copied') : ''}
      </span>
    </>
  );
}

/** @returns whether the text was copied */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text);
  }
}

/** The older call, for pages without access to the clipboard API. */
function copiedByHand(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'spoken';
  // The open dialog keeps the focus inside it.
  const dialogs = document.querySelectorAll('[role="dialog"]');
  (dialogs[dialogs.length - 1] ?? document.body).append(area);
  const before = document.activeElement;
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}
