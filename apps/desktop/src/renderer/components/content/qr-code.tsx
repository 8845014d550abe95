// SPDX-License-Identifier: MPL-2.0
import { useMemo } from 'react';
import { encode } from 'uqr';
import styles from './qr-code.module.css';

/** White margin in cells; cameras need it to find the code. */
const BORDER = 3;

/** A text as a QR code. @param label  where it leads, for screen readers */
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

/** The dark cells; adjacent ones in a row become one stroke. */
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
