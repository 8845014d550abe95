// SPDX-License-Identifier: MPL-2.0

/** What could hide, move or break other text: controls, and marks that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A peer's words, such as a name: shown as text, apart from what stands around it, with everything in it that could deceive made visible. */
export function PeerText({ text, className }: { text: string; className?: string | undefined }) {
  return <bdi className={className}>{harmless(text)}</bdi>;
}

/** The same where only text may stand: a label, a title. */
export function harmless(text: string): string {
  return text.replace(HARMFUL, (mark) => `\u00b7${mark.charCodeAt(0).toString(16)}\u00b7`);
}
