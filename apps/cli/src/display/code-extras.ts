// SPDX-License-Identifier: MPL-2.0
import { codeLink, KeibiError } from '@keibidrop/protocol';
import type { Io } from '../terminal/io.ts';

/** Options of a new code, beside its text. */
export interface CodeExtras {
  qr?: boolean;
  copy?: boolean;
}

export interface Notes {
  note(text: string): void;
  warn(text: string): void;
}

/** Shows the code as a QR code and copies it, as asked for. Ends no send: what fails is a warning. */
export async function showCodeExtras(code: string, { qr, copy }: CodeExtras, io: Io, notes: Notes): Promise<void> {
  if (qr) await showQrCode(code, io, notes);
  if (copy) await copyCode(code, io, notes);
}

/** The link opens KeibiDrop where it is installed; elsewhere a phone shows its text, with the code. */
async function showQrCode(code: string, io: Io, notes: Notes): Promise<void> {
  const { qrCode, whyUnshown } = await import('./qr-code.ts');
  const qr = await qrCode(codeLink(code), io.stderr);
  const why = whyUnshown(qr, io.stderr);
  if (why === undefined) notes.note(qr.trimEnd());
  else notes.warn(`The QR code cannot be shown: ${why}`);
}

async function copyCode(code: string, io: Io, notes: Notes): Promise<void> {
  const { writeClipboard } = await import('../terminal/clipboard.ts');
  try {
    const copied = await writeClipboard(code, io);
    notes.note(copied ? 'The code is copied.' : 'The terminal was asked to copy the code, and may have done so.');
  } catch (reason) {
    if (io.signal.aborted) return;
    notes.warn(`The code is not copied. ${KeibiError.from(reason, 'INTERNAL').message}`);
  }
}
