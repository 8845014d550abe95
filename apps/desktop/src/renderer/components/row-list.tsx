// SPDX-License-Identifier: MPL-2.0
import type { ReactNode } from 'react';
import styles from './row-list.module.css';

/** Rows of one kind on a surface, with lines between them. */
export function RowList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={styles.list} aria-label={label}>
      {children}
    </ul>
  );
}

export interface RowProps {
  /** The name of a contact: files can be dropped on the row. */
  'data-drop-to'?: string;
  /** In front: an icon or a face. */
  mark: ReactNode;
  name: ReactNode;
  /** What there is to know, below the name. */
  about?: ReactNode;
  /** At the end. */
  actions?: ReactNode;
  /** Opened below the row. */
  children?: ReactNode;
}

export function Row({ mark, name, about, actions, children, ...rest }: RowProps) {
  return (
    <li {...rest} className={styles.row}>
      <div className={styles.line}>
        <div className={styles.mark}>{mark}</div>
        <div className={styles.words}>
          <div className={styles.name}>{name}</div>
          {about && <div className={styles.about}>{about}</div>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </li>
  );
}
