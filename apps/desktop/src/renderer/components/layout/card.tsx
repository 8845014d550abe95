// SPDX-License-Identifier: MPL-2.0
import type { HTMLAttributes } from 'react';
import styles from './card.module.css';
import { Panel } from './panel.tsx';

/** A panel for one item. */
export function Card({ className, ...rest }: HTMLAttributes<HTMLElement>) {
  return <Panel as="section" className={[styles.card, className].filter(Boolean).join(' ')} {...rest} />;
}
