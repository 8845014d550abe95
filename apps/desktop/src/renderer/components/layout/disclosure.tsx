// SPDX-License-Identifier: MPL-2.0
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import styles from './disclosure.module.css';
import { Stack } from './stack.tsx';

export interface DisclosureProps {
  title: ReactNode;
  children: ReactNode;
  /** Whether it is open at first. */
  open?: boolean;
}

/** Content that few users need, hidden until its title is clicked. */
export function Disclosure({ title, children, open }: DisclosureProps) {
  return (
    <details className={styles.disclosure} open={open}>
      <summary className={styles.summary}>
        <ChevronRight className={styles.mark} size={18} aria-hidden="true" />
        {title}
      </summary>
      <Stack gap={4} className={styles.body}>
        {children}
      </Stack>
    </details>
  );
}
