// SPDX-License-Identifier: MPL-2.0

const MOST_NAME_BYTES = 255;
const MOST_LABEL_BYTES = 64;
const MOST_END_BYTES = 32;

/** `name (conflict DATE LABEL).end`, as native/src/mount/conflict_name.cc makes it. */
export function conflictName(name: string, { label, number }: { label: string; number: number }): string {
  const dot = name.lastIndexOf('.');
  const end = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MOST_END_BYTES ? name.slice(dot) : '';
  const stem = name.slice(0, name.length - end.length);
  const which = number > 1 ? ` ${number}` : '';
  const middle = ` (conflict ${today()} ${firstBytes(label, MOST_LABEL_BYTES)}${which})${end}`;
  return firstBytes(stem, MOST_NAME_BYTES - Buffer.byteLength(middle)) + middle;
}

/** Whole characters. */
function firstBytes(text: string, most: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > most) break;
    kept += character;
  }
  return kept;
}

function today(): string {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
