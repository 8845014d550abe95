// SPDX-License-Identifier: MPL-2.0
import type { SettingView } from '@keibidrop/daemon/local';
import { Check } from 'lucide-react';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { ErrorText } from '../../components/feedback/error-text.tsx';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import type { SettingKey } from './setting-keys.ts';
import styles from './settings.module.css';

/** Props of a setting's control. */
export interface SettingControl {
  value: string;
  disabled: boolean;
  hint: string;
  /** Error of the last save. */
  error: ReactNode;
  onChange(value: string): void;
  /** Changes and saves at once, for choices. */
  onChoose(value: string): void;
}

export interface SettingFormProps {
  name: SettingKey;
  setting: SettingView | undefined;
  children(control: SettingControl): ReactNode;
}

const SAID_MS = 2500;

/** One setting of the daemon. Each setting is saved and validated on its own. */
export function SettingForm({ name, setting, children }: SettingFormProps) {
  const { t } = useTexts();
  const api = useApi();
  const { follow, busy, error, forget } = useAction();
  const kept = setting?.value ?? '';
  const [typed, setTyped] = useState<string>();
  const [saved, setSaved] = useSaid();
  const fixed = setting?.fixed;
  const value = typed ?? kept;
  const changed = value !== kept;
  const save = async (next: string) => {
    const values = { [name]: next.trim() };
    if (!(await follow((signal) => api.call('changeSettings', { values }, { signal })))) return;
    setTyped((now) => (now === next ? undefined : now));
    setSaved(true);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed) void save(value);
  };
  const wrong = error?.code === 'CONFIG_INVALID' ? t(`settings.${name}.wrong`) : error && <ErrorText error={error} />;
  return (
    <form className={styles.setting} onSubmit={submit}>
      {children({
        value,
        disabled: setting === undefined || fixed !== undefined,
        hint: fixed === undefined ? t(`settings.${name}.hint`) : t('settings.fixed', { place: harmless(fixed) }),
        error: wrong,
        onChange: (next) => {
          forget();
          setTyped(next);
        },
        onChoose: (next) => {
          setTyped(next);
          void save(next);
        },
      })}
      <div className={styles.outcome}>
        {changed && (
          <Button look="primary" type="submit" busy={busy}>
            {t('settings.save')}
          </Button>
        )}
        <p role="status" className={styles.saved}>
          {saved && !changed && (
            <>
              <Check size={16} aria-hidden="true" />
              {t('settings.saved')}
            </>
          )}
        </p>
      </div>
    </form>
  );
}

/** Turns false again after SAID_MS. */
function useSaid(): [boolean, (said: boolean) => void] {
  const [said, setSaid] = useState(false);
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return [said, setSaid];
}
