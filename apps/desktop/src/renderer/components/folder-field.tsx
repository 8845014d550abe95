// SPDX-License-Identifier: MPL-2.0
import { FolderOpen } from 'lucide-react';
import { useState } from 'react';
import { useApi } from '../api/api-context.ts';
import { useTexts } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { FolderDialog } from './folder-dialog.tsx';
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

/** A folder of this machine: typed, or chosen in the system's dialog, or in a browser in ours. */
export function FolderField({ label, value, placeholder, hint, error, disabled, onChange }: FolderFieldProps) {
  const { t } = useTexts();
  const { shell } = useApi();
  const [choosing, setChoosing] = useState(false);
  const start = value || placeholder;
  const choose = async () => {
    if (shell === undefined) return setChoosing(true);
    const chosen = await shell.pickFolder(start);
    if (chosen !== undefined) onChange(chosen);
  };
  return (
    <>
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
            <Button icon={FolderOpen} disabled={disabled} onClick={choose}>
              {t('frame.choose')}
            </Button>
          </div>
        )}
      </Field>
      {choosing && (
        <FolderDialog
          start={start}
          onClose={() => setChoosing(false)}
          onChoose={(path) => {
            setChoosing(false);
            onChange(path);
          }}
        />
      )}
    </>
  );
}
