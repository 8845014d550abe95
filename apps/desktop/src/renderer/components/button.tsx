// SPDX-License-Identifier: MPL-2.0
import type { LucideIcon } from 'lucide-react';
import type { ButtonHTMLAttributes } from 'react';
import styles from './button.module.css';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** One `primary` a view at most. */
  look?: 'primary' | 'plain' | 'quiet' | 'danger';
  icon?: LucideIcon;
  /** Only the icon is seen; the children are heard, and shown as the tooltip. */
  iconOnly?: boolean;
  /** It works on it: cannot be pressed meanwhile. */
  busy?: boolean;
}

export function Button({ look = 'plain', icon: Icon, iconOnly, busy, children, className, ...rest }: ButtonProps) {
  const classes = [styles.button, styles[look], iconOnly && styles.iconOnly, className].filter(Boolean).join(' ');
  return (
    <button
      type="button"
      className={classes}
      aria-busy={busy || undefined}
      {...(iconOnly && typeof children === 'string' && { title: children })}
      {...rest}
      disabled={rest.disabled || busy}
    >
      {Icon && <Icon size={18} aria-hidden="true" />}
      <span className={iconOnly ? 'spoken' : styles.label}>{children}</span>
    </button>
  );
}
