// SPDX-License-Identifier: MPL-2.0
import { FolderOpen } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { withTilde } from '../../store/home-path.ts';
import { useHome } from '../../store/use-status.ts';
import { useTexts } from '../../texts/texts.ts';
import { ChooseFolder } from './choose-folder.tsx';
import { Field } from './field.tsx';
import styles from './folder-field.module.css';

export interface FolderFieldProps {
  label: string;
  /** Empty: the placeholder's folder. */
  value: string;
  placeholder?: string | undefined;
  hint?: string | undefined;
  error?: ReactNode;
  disabled?: boolean;
  /** @param path  absolute, or as typed */
  onChange(path: string): void;
}

/** A folder of this computer, typed or chosen. */
export function FolderField({ label, value, placeholder, hint, error, disabled, onChange }: FolderFieldProps) {
  const { t } = useTexts();
  const home = useHome();
  const [typed, setTyped] = useState<string>();
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div className={styles.row}>
          <input
            {...control}
            type="text"
            // Keep typed text as it is.
            value={value === typed ? value : withTilde(value, home)}
            placeholder={placeholder && withTilde(placeholder, home)}
            spellCheck={false}
            autoComplete="off"
            disabled={disabled}
            onChange={({ target }) => {
              setTyped(target.value);
              onChange(target.value);
            }}
          />
          <ChooseFolder
            start={value || placeholder}
            icon={FolderOpen}
            disabled={disabled}
            onChoose={(path) => {
              setTyped(undefined);
              onChange(path);
            }}
          >
            {t('frame.choose')}
          </ChooseFolder>
        </div>
      )}
    </Field>
  );
}
