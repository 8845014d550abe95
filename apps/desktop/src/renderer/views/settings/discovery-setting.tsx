// SPDX-License-Identifier: MPL-2.0
import type { SettingView } from '@keibidrop/daemon/local';
import { useState } from 'react';
import { Choice } from '../../components/controls/choice.tsx';
import { Field } from '../../components/controls/field.tsx';
import { useTexts } from '../../texts/texts.ts';
import { SettingForm } from './setting-form.tsx';
import styles from './settings.module.css';

type Where = 'auto' | 'off' | 'one';

/** Networks to search for others: all, none, or one interface by name. */
export function DiscoverySetting({ setting }: { setting: SettingView | undefined }) {
  const { t } = useTexts();
  const [naming, setNaming] = useState(false);
  return (
    <SettingForm name="discovery" setting={setting}>
      {({ value, disabled, hint, error, onChange, onChoose }) => {
        const where: Where = naming ? 'one' : whereOf(value);
        const choose = (next: Where) => {
          setNaming(next === 'one');
          if (next === 'one') onChange(whereOf(value) === 'one' ? value : '');
          else onChoose(next === 'auto' ? '' : next);
        };
        return (
          <fieldset className={styles.parts} disabled={disabled}>
            <Choice
              legend={t('settings.discovery')}
              value={where}
              options={[
                { value: 'auto', label: t('settings.discovery.auto'), hint: error ?? hint },
                { value: 'off', label: t('settings.discovery.off'), hint: error ?? hint },
                { value: 'one', label: t('settings.discovery.one'), hint },
              ]}
              onChange={choose}
            />
            {where === 'one' && (
              <Field label={t('settings.discovery.interface')} error={error}>
                {(control) => (
                  <input
                    {...control}
                    value={value}
                    placeholder="eth0"
                    spellCheck={false}
                    autoComplete="off"
                    onChange={(event) => onChange(event.target.value)}
                  />
                )}
              </Field>
            )}
          </fieldset>
        );
      }}
    </SettingForm>
  );
}

function whereOf(value: string): Where {
  if (value === '' || value === 'auto') return 'auto';
  return value === 'off' ? 'off' : 'one';
}
