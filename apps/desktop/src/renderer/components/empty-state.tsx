// SPDX-License-Identifier: MPL-2.0
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import styles from './empty-state.module.css';

/** Nothing is here yet: why, and what to do about it. */
export function EmptyState({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <Icon size={36} strokeWidth={1.4} aria-hidden="true" />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
