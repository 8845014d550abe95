// SPDX-License-Identifier: MPL-2.0
import { Choice } from '../../components/controls/choice.tsx';
import { Field } from '../../components/controls/field.tsx';
import { ReachFields } from '../../components/controls/reach-fields.tsx';
import { Switch } from '../../components/controls/switch.tsx';
import type { SendOptions } from '../../store/send-options.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './send.module.css';

const MOST_RECEIVERS = 1000;

export interface SendOptionFieldsProps {
  options: SendOptions;
  /** Whether several receivers may use the code. */
  several: boolean;
  onChange(options: SendOptions): void;
}

export function SendOptionFields({ options, several, onChange }: SendOptionFieldsProps) {
  const { t } = useTexts();
  const { receivers, incognito, save } = options;
  const many = receivers === 0 ? 'any' : receivers === 1 ? 'one' : 'some';
  return (
    <div className={styles.options}>
      {several && (
        <div>
          <Choice
            legend={t('send.receivers')}
            value={many}
            options={[
              { value: 'one', label: t('send.receiversOne') },
              { value: 'some', label: t('send.receiversSome') },
              { value: 'any', label: t('send.receiversAny'), hint: t('send.receiversAnyHint') },
            ]}
            onChange={(choice) => onChange({ ...options, receivers: { one: 1, some: 5, any: 0 }[choice] })}
          />
          {many === 'some' && (
            <Field label={t('send.receiversCount')}>
              {(control) => (
                <input
                  {...control}
                  type="number"
                  min={2}
                  max={MOST_RECEIVERS}
                  value={receivers}
                  onChange={({ target }) => {
                    const count = Math.round(Number(target.value));
                    if (count >= 2 && count <= MOST_RECEIVERS) onChange({ ...options, receivers: count });
                  }}
                />
              )}
            </Field>
          )}
        </div>
      )}
      {several && receivers === 1 && (
        <Field label={t('send.save')} hint={t('send.saveHint')}>
          {(control) => (
            <input
              {...control}
              type="text"
              value={save}
              autoComplete="off"
              disabled={incognito}
              onChange={({ target }) => onChange({ ...options, save: target.value })}
            />
          )}
        </Field>
      )}
      <ReachFields reach={options} onChange={(reach) => onChange({ ...options, ...reach })} />
      <Switch
        label={t('send.incognito')}
        hint={t('send.incognitoHint')}
        checked={incognito}
        onChange={(checked) => onChange({ ...options, incognito: checked })}
      />
    </div>
  );
}
