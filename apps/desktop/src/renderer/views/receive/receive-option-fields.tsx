// SPDX-License-Identifier: MPL-2.0
import { Field } from '../../components/controls/field.tsx';
import { FolderField } from '../../components/controls/folder-field.tsx';
import { ReachFields } from '../../components/controls/reach-fields.tsx';
import { Switch } from '../../components/controls/switch.tsx';
import { COLLISIONS, useReceiveOptions } from '../../store/receive-options.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './receive.module.css';

export function ReceiveOptionFields({ savePath }: { savePath: string | undefined }) {
  const { t } = useTexts();
  const options = useReceiveOptions();
  const change = useReceiveOptions.setState;
  return (
    <div className={styles.options}>
      <FolderField
        label={t('receive.place')}
        value={options.out}
        placeholder={savePath}
        onChange={(out) => change({ out })}
      />
      <Field label={t('receive.collisions')}>
        {(control) => (
          <select
            {...control}
            value={options.collisions}
            onChange={({ target }) =>
              change({ collisions: COLLISIONS.find((each) => each === target.value) ?? 'rename' })
            }
          >
            {COLLISIONS.map((each) => (
              <option key={each} value={each}>
                {t(`receive.collisions_${each}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t('send.save')} hint={t('send.saveHint')}>
        {(control) => (
          <input
            {...control}
            type="text"
            value={options.save}
            autoComplete="off"
            disabled={options.incognito}
            onChange={({ target }) => change({ save: target.value })}
          />
        )}
      </Field>
      <ReachFields reach={options} onChange={change} />
      <Switch
        label={t('receive.verify')}
        hint={t('receive.verifyHint')}
        checked={options.verify}
        onChange={(verify) => change({ verify })}
      />
      <Switch
        label={t('send.incognito')}
        hint={t('send.incognitoHint')}
        checked={options.incognito}
        onChange={(incognito) => change({ incognito })}
      />
    </div>
  );
}
