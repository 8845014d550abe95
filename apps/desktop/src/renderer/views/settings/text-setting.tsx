// SPDX-License-Identifier: MPL-2.0
import type { SettingView } from '@keibidrop/daemon/local';
import { Field } from '../../components/controls/field.tsx';
import { useTexts } from '../../texts/texts.ts';
import { SettingForm } from './setting-form.tsx';
import type { SettingKey } from './setting-keys.ts';
import styles from './settings.module.css';

export interface TextSettingProps {
  name: SettingKey;
  setting: SettingView | undefined;
  /** The default, shown while the field is empty. */
  placeholder?: string;
  numeric?: boolean;
}

export function TextSetting({ name, setting, placeholder, numeric }: TextSettingProps) {
  const { t } = useTexts();
  return (
    <SettingForm name={name} setting={setting}>
      {({ value, disabled, hint, error, onChange }) => (
        <Field label={t(`settings.${name}`)} hint={hint} error={error}>
          {(control) => (
            <input
              {...control}
              className={[control.className, numeric && styles.short].filter(Boolean).join(' ')}
              value={value}
              disabled={disabled}
              placeholder={placeholder}
              spellCheck={false}
              autoComplete="off"
              inputMode={numeric ? 'numeric' : 'text'}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      )}
    </SettingForm>
  );
}
