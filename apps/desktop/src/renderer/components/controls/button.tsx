// SPDX-License-Identifier: MPL-2.0
import type { LucideIcon } from 'lucide-react';
import type { ButtonHTMLAttributes } from 'react';
import styles from './button.module.css';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** At most one `primary` per view. */
  look?: 'primary' | 'plain' | 'quiet' | 'danger';
  icon?: LucideIcon;
  /** Shows only the icon; the children become the tooltip and the text for screen readers. */
  iconOnly?: boolean;
  /** Disables the button while its action runs. */
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
