// SPDX-License-Identifier: MPL-2.0
import type { ComponentPropsWithRef, ElementType } from 'react';
import styles from '../../design/stack.module.css';

export type StackProps<T extends ElementType> = Omit<ComponentPropsWithRef<T>, 'as'> & {
  /** The element; `div` if absent. */
  as?: T;
  /** A step of `--space` in the tokens. */
  gap: 1 | 2 | 3 | 4 | 5 | 6;
};

/** Puts its children one below the other, each as wide as the stack. */
export function Stack<T extends ElementType = 'div'>({ as, gap, className, ...rest }: StackProps<T>) {
  const Element: ElementType = as ?? 'div';
  return <Element className={[styles.stack, styles[`gap${gap}`], className].filter(Boolean).join(' ')} {...rest} />;
}
