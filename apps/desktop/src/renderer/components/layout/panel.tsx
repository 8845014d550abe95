// SPDX-License-Identifier: MPL-2.0
import type { ComponentPropsWithRef, ElementType } from 'react';
import styles from '../../design/panel.module.css';

export type PanelProps<T extends ElementType> = Omit<ComponentPropsWithRef<T>, 'as'> & {
  /** The element; `div` if absent. */
  as?: T;
  /** `inset`: within another panel. */
  look?: 'raised' | 'inset';
};

/** A surface with an edge, without a distance to its content. */
export function Panel<T extends ElementType = 'div'>({ as, look = 'raised', className, ...rest }: PanelProps<T>) {
  const Element: ElementType = as ?? 'div';
  return <Element className={[styles.panel, styles[look], className].filter(Boolean).join(' ')} {...rest} />;
}
