// SPDX-License-Identifier: MPL-2.0
import { CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Stack } from '../layout/stack.tsx';
import styles from './notice.module.css';

const ICONS = { info: Info, good: CircleCheck, warning: TriangleAlert, danger: TriangleAlert };

/** A message to the user: what happened and what to do next. A danger is announced at once. */
export function Notice({ look, title, children }: { look: keyof typeof ICONS; title?: string; children?: ReactNode }) {
  const Icon = ICONS[look];
  return (
    <div className={[styles.notice, styles[look]].join(' ')} role={look === 'danger' ? 'alert' : 'status'}>
      <Icon size={20} aria-hidden="true" />
      <Stack gap={1}>
        {title && <strong>{title}</strong>}
        {children}
      </Stack>
    </div>
  );
}
