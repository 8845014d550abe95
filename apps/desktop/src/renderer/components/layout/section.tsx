// SPDX-License-Identifier: MPL-2.0
import { type ReactNode, useId } from 'react';
import styles from './section.module.css';

export interface SectionProps {
  title: string;
  /** One sentence below the title. */
  about?: string | undefined;
  /** Content beside the title. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of a view with its own heading. */
export function Section({ title, about, aside, children }: SectionProps) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <header className={styles.head}>
        <div className={styles.words}>
          <h2 id={id}>{title}</h2>
          {about !== undefined && <p className={styles.about}>{about}</p>}
        </div>
        {aside}
      </header>
      {children}
    </section>
  );
}
