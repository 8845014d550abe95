// SPDX-License-Identifier: MPL-2.0
import { LockOpen } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { ErrorText } from '../../components/feedback/error-text.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { useUnlock } from '../../store/own-identity.ts';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './people.module.css';

/** Asks for the passphrase of a locked identity. */
export function UnlockForm() {
  const { t } = useTexts();
  const unlock = useUnlock();
  const { act, busy, error } = useAction();
  const [passphrase, setPassphrase] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void act(() => unlock(passphrase));
  };
  const wrong = error?.code === 'IDENTITY_LOCKED' ? t('people.passphraseWrong') : undefined;
  return (
    <Stack as="form" gap={4} onSubmit={submit}>
      <h2>{t('people.lockedTitle')}</h2>
      <p className={styles.youText}>{t('people.lockedText')}</p>
      <Field label={t('people.passphrase')} error={wrong ?? (error && <ErrorText error={error} />)}>
        {(control) => (
          <input
            {...control}
            type="password"
            autoComplete="current-password"
            value={passphrase}
            onChange={(event) => setPassphrase(event.target.value)}
          />
        )}
      </Field>
      <Button look="primary" type="submit" icon={LockOpen} busy={busy} disabled={passphrase === ''}>
        {t('people.unlock')}
      </Button>
    </Stack>
  );
}
