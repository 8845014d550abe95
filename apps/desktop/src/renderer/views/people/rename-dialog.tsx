// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';
import { type FormEvent, useId, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { ErrorText } from '../../components/feedback/error-text.tsx';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';

export function RenameDialog({ contact: { name }, onClose }: { contact: ContactView; onClose(): void }) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
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
