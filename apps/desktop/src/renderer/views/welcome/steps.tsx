// SPDX-License-Identifier: MPL-2.0
import { Field } from '../../components/controls/field.tsx';
import { FolderField } from '../../components/controls/folder-field.tsx';
import { useIdentity } from '../../store/own-identity.ts';
import { useStatus } from '../../store/use-status.ts';
import { useTexts } from '../../texts/texts.ts';
import { Phrase } from '../people/phrase.tsx';
import styles from './welcome.module.css';

interface AskingProps {
  /** Undefined: not changed. */
  value: string | undefined;
  error: string | undefined;
  onChange(value: string): void;
}

/** Step for the folder of received files. */
export function Where({ value, error, onChange }: AskingProps) {
  const { t } = useTexts();
  const status = useStatus();
  return (
    <div className={styles.asked}>
      <FolderField
        label={t('settings.save_path')}
        value={value ?? status?.savePath ?? ''}
        error={error}
        onChange={onChange}
      />
    </div>
  );
}

/** Step for the name that others see; also shows the words of the fingerprint. */
export function Who({ value, error, onChange }: AskingProps) {
  const { t } = useTexts();
  const status = useStatus();
  const own = useIdentity();
  return (
    <div className={styles.asked}>
      <Field label={t('settings.label')} error={error}>
        {(control) => (
          <input
            {...control}
            value={value ?? status?.label ?? ''}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      {own.state === 'known' && (
        <div className={styles.words}>
          <Phrase words={own.identity.words} />
        </div>
      )}
    </div>
  );
}
