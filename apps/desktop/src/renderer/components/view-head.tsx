// SPDX-License-Identifier: MPL-2.0
import type { ReactNode } from 'react';
import styles from './view-head.module.css';

/** The heading of a view, and what can be done with the whole of it. */
export function ViewHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className={styles.head}>
      <h1>{title}</h1>
      {children && <div className={styles.actions}>{children}</div>}
    </header>
  );
}
