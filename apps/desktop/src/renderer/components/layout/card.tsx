// SPDX-License-Identifier: MPL-2.0
import type { HTMLAttributes } from 'react';
import styles from './card.module.css';

/** A surface for one item. */
export function Card({ className, ...rest }: HTMLAttributes<HTMLElement>) {
  return <section className={[styles.card, className].filter(Boolean).join(' ')} {...rest} />;
}
