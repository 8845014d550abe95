// SPDX-License-Identifier: MPL-2.0
import type { ReactNode } from 'react';
import styles from './view-head.module.css';

/** Heading of a view, with actions for the whole view. */
export function ViewHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className={styles.head}>
      <h1>{title}</h1>
      {children && <div className={styles.actions}>{children}</div>}
    </header>
  );
}
