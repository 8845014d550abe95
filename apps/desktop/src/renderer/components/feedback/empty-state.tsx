// SPDX-License-Identifier: MPL-2.0
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Stack } from '../layout/stack.tsx';
import styles from './empty-state.module.css';

/** Shown in place of an empty list: why it is empty and what to do. */
export function EmptyState({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children?: ReactNode }) {
  return (
    <Stack gap={3} className={styles.empty}>
      <Icon size={36} strokeWidth={1.4} aria-hidden="true" />
      <h2>{title}</h2>
      {children}
    </Stack>
  );
}
