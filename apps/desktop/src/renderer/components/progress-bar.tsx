// SPDX-License-Identifier: MPL-2.0
import styles from './progress-bar.module.css';

/** How much is there. @param share  0 to 1; undefined: nobody knows yet */
export function ProgressBar({ label, share, still }: { label: string; share: number | undefined; still?: boolean }) {
  return (
    <progress
      className={[styles.bar, still && styles.still].filter(Boolean).join(' ')}
      aria-label={label}
      max={1}
      {...(share !== undefined && { value: share })}
    />
  );
}
