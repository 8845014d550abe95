// SPDX-License-Identifier: MPL-2.0
import type { ReactNode } from 'react';
import { Panel } from './panel.tsx';
import styles from './row-list.module.css';

/** A list of similar rows with lines between them. */
export function RowList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Panel as="ul" className={styles.list} aria-label={label}>
      {children}
    </Panel>
  );
}

export interface RowProps {
  /** Name of a contact; makes the row a drop target. */
  'data-drop-to'?: string;
  /** Icon or avatar at the start. */
  mark: ReactNode;
  name: ReactNode;
  /** Details below the name. */
  about?: ReactNode;
  /** Buttons at the end. */
  actions?: ReactNode;
  /** Content that opens below the row. */
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
