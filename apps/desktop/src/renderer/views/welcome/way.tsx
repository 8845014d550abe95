// SPDX-License-Identifier: MPL-2.0
import styles from './welcome.module.css';

/** Drawing of two computers and the transfer between them. Decorative. */
export function Way() {
  return (
    <svg className={styles.way} viewBox="0 0 420 150" aria-hidden="true">
      <path className={styles.path} d="M118 74C170 18 250 18 302 74" />
      <rect className={styles.screen} x="14" y="48" width="104" height="70" rx="10" />
      <path className={styles.stand} d="M4 132h124" />
      <rect className={styles.screen} x="302" y="48" width="104" height="70" rx="10" />
      <path className={styles.stand} d="M292 132h124" />
      <g className={styles.parcel}>
        <rect x="192" y="14" width="36" height="36" rx="9" />
        <path d="M203 32l5 5 9-10" />
      </g>
      <path className={styles.line} d="M34 72h52M34 86h36" />
      <path className={styles.line} d="M322 72h52M322 86h36" />
    </svg>
  );
}
