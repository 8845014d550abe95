// SPDX-License-Identifier: MPL-2.0
import { type FormEvent, useId, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { useAct } from '../../store/act.ts';
import { go } from '../../store/route.ts';
import { useErrorText } from '../../texts/errors.ts';
import { useTexts } from '../../texts/texts.ts';

export function ConnectDialog({ onClose }: { onClose(): void }) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAct();
  const errorText = useErrorText();
  const [code, setCode] = useState('');
  const form = useId();
  const connect = async (event: FormEvent) => {
    event.preventDefault();
    await act(async (signal) => {
      const { share } = await api.call('connect', { code: code.trim() }, { signal });
      if (share !== undefined) go('mounts', share.name);
    });
  };
  return (
    <Dialog
      title={t('mounts.connectTitle')}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('frame.cancel')}</Button>
          <Button look="primary" type="submit" form={form} busy={busy} disabled={code.trim() === ''}>
            {t('mounts.connectButton')}
          </Button>
        </>
      }
    >
      <p>{t('mounts.connectText')}</p>
      <form id={form} onSubmit={(event) => void connect(event)}>
        <Field label={t('mounts.codeField')} error={error && errorText(error)}>
          {(control) => (
            <input
              {...control}
              value={code}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
