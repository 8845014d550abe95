// SPDX-License-Identifier: MPL-2.0
import { type ReactNode, useId } from 'react';
import { Stack } from '../layout/stack.tsx';
import styles from './field.module.css';

/** Attributes that a control inside a field must carry. */
export interface FieldControl {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
  className: string | undefined;
}

export interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** Error in the input. */
  error?: ReactNode;
  children(control: FieldControl): ReactNode;
}

/** A label, its control, and a hint or an error below it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const about = error || hint;
  return (
    <Stack gap={1}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      {children({
        id,
        className: styles.control,
        ...(about !== undefined && { 'aria-describedby': `${id}-about` }),
        ...(error && { 'aria-invalid': true as const }),
      })}
      {about !== undefined && (
        <p id={`${id}-about`} className={error ? styles.error : styles.hint}>
          {about}
        </p>
      )}
    </Stack>
  );
}
