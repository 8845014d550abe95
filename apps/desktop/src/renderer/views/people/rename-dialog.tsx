// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/peer/local';
import { type FormEvent, useId, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorText } from '../../components/error-text.tsx';
import { Field } from '../../components/field.tsx';
import { harmless } from '../../components/peer-text.tsx';
import { useAct } from '../../store/act.ts';
import { useTexts } from '../../texts/texts.ts';

export function RenameDialog({ contact: { name }, onClose }: { contact: ContactView; onClose(): void }) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAct();
  const [newName, setNewName] = useState(name);
  const form = useId();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (await act((signal) => api.call('changeContact', { name, newName }, { signal }))) onClose();
  };
  return (
    <Dialog
      title={t('people.renameTitle', { name: harmless(name) })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('frame.cancel')}</Button>
          <Button look="primary" type="submit" form={form} busy={busy} disabled={newName.trim() === ''}>
            {t('people.save')}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void save(event)}>
        <Field label={t('people.newName')} hint={t('people.nameHint')} error={error && <ErrorText error={error} />}>
          {(control) => (
            <input
              {...control}
              value={newName}
              autoComplete="off"
              onChange={(event) => setNewName(event.target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
