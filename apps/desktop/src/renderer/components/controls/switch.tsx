// SPDX-License-Identifier: MPL-2.0
import * as Toggle from '@radix-ui/react-switch';
import { useId } from 'react';
import styles from './switch.module.css';

export interface SwitchProps {
  label: string;
  hint?: string;
  checked: boolean;
  disabled?: boolean;
  onChange(checked: boolean): void;
}

/** An on/off switch that takes effect at once. */
export function Switch({ label, hint, checked, disabled = false, onChange }: SwitchProps) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the button inside.
    <label className={styles.switch}>
      <span id={id} className={styles.label}>
        {label}
      </span>
      <Toggle.Root
        className={styles.control}
        aria-labelledby={id}
        {...(hint !== undefined && { 'aria-describedby': `${id}-hint` })}
        checked={checked}
        disabled={disabled}
        onCheckedChange={onChange}
      >
        <Toggle.Thumb className={styles.thumb} />
      </Toggle.Root>
      {hint !== undefined && (
        <span id={`${id}-hint`} className={styles.hint}>
          {hint}
        </span>
      )}
    </label>
  );
}
