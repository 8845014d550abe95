// SPDX-License-Identifier: MPL-2.0
import { type ReactNode, useId } from 'react';
import styles from './section.module.css';
import { Stack } from './stack.tsx';

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
    <Stack as="section" gap={3} className={styles.section} aria-labelledby={id}>
      <header className={styles.head}>
        <Stack gap={1}>
          <h2 id={id}>{title}</h2>
          {about !== undefined && <p className={styles.about}>{about}</p>}
        </Stack>
        {aside}
      </header>
      {children}
    </Stack>
  );
}
