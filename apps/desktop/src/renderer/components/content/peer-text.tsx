// SPDX-License-Identifier: MPL-2.0

/** Characters that could hide, move or break other text: controls, and marks that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches these.
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A peer's words, such as a name, isolated from the text around them. Deceptive characters become visible. */
export function PeerText({ text, className }: { text: string; className?: string | undefined }) {
  return <bdi className={className}>{harmless(text)}</bdi>;
}

/** The same as a string, for labels and titles. */
export function harmless(text: string): string {
  return text.replace(HARMFUL, (mark) => `\u00b7${mark.charCodeAt(0).toString(16)}\u00b7`);
}
