// SPDX-License-Identifier: MPL-2.0
import styles from './progress-bar.module.css';

/** A progress bar. @param share  0 to 1; undefined: not known yet */
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
