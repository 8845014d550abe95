// SPDX-License-Identifier: MPL-2.0
import { type ReactNode, useId } from 'react';
import styles from './choice.module.css';

export interface ChoiceProps<V extends string> {
  legend: string;
  /** Only for screen readers, where the surroundings already show it. */
  legendSpoken?: boolean;
  value: V;
  options: readonly { value: V; label: string; hint?: ReactNode }[];
  onChange(value: V): void;
}

/** A choice among a few visible options. The hint of the chosen one appears below. */
export function Choice<V extends string>({ legend, legendSpoken, value, options, onChange }: ChoiceProps<V>) {
  const name = useId();
  const hint = options.find((option) => option.value === value)?.hint;
  return (
    <fieldset className={styles.choice}>
      <legend className={legendSpoken ? 'spoken' : styles.legend}>{legend}</legend>
      <div className={styles.options}>
        {options.map((option) => (
          <label
            key={option.value}
            className={[styles.option, option.value === value && styles.chosen].filter(Boolean).join(' ')}
          >
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
      {hint !== undefined && <p className={styles.hint}>{hint}</p>}
    </fieldset>
  );
}
