// SPDX-License-Identifier: MPL-2.0
import { useMemo } from 'react';
import { encode } from 'uqr';
import styles from './qr-code.module.css';

/** Cells of white around it, without which cameras do not find it. */
const BORDER = 3;

/** A text that a camera can read. @param label  what it leads to, for who cannot see it */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => drawn(text), [text]);
  return (
    <svg
      className={styles.qr}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  );
}

/** The dark cells, those beside each other in one stroke. */
function drawn(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { border: BORDER });
  let path = '';
  for (const [y, row] of data.entries()) {
    for (let x = 0; x < size; x++) {
      const start = x;
      while (row[x]) x++;
      if (x > start) path += `M${start} ${y}h${x - start}v1h${start - x}z`;
    }
  }
  return { size, path };
}
