// SPDX-License-Identifier: MPL-2.0
import { FolderOpen } from 'lucide-react';
import { useTexts } from '../texts/texts.ts';
import { ChooseFolder } from './choose-folder.tsx';
import { Field } from './field.tsx';
import styles from './folder-field.module.css';

export interface FolderFieldProps {
  label: string;
  /** Absolute; empty: what the placeholder says. */
  value: string;
  placeholder?: string | undefined;
  hint?: string | undefined;
  error?: string | undefined;
  disabled?: boolean;
  onChange(path: string): void;
}

/** A folder of this machine: typed, or chosen. */
export function FolderField({ label, value, placeholder, hint, error, disabled, onChange }: FolderFieldProps) {
  const { t } = useTexts();
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div className={styles.row}>
          <input
            {...control}
            type="text"
            value={value}
            placeholder={placeholder}
            spellCheck={false}
            autoComplete="off"
            disabled={disabled}
            onChange={(event) => onChange(event.target.value)}
          />
          <ChooseFolder start={value || placeholder} icon={FolderOpen} disabled={disabled} onChoose={onChange}>
            {t('frame.choose')}
          </ChooseFolder>
        </div>
      )}
    </Field>
  );
}
