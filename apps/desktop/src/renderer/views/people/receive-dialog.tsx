// SPDX-License-Identifier: MPL-2.0
import type { NearbySenderView } from '@keibidrop/peer/local';
import { type FormEvent, useId, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { harmless } from '../../components/peer-text.tsx';
import { useAct } from '../../store/act.ts';
import { go } from '../../store/route.ts';
import { useErrorText } from '../../texts/errors.ts';
import { useTexts } from '../../texts/texts.ts';

/** Asks for the code of a sender that was found nearby, which only its person can tell. */
export function ReceiveDialog({ sender, onClose }: { sender: NearbySenderView; onClose(): void }) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAct();
  const errorText = useErrorText();
  const [code, setCode] = useState('');
  const form = useId();
  const receive = async (event: FormEvent) => {
    event.preventDefault();
    const request = { code: code.trim(), near: sender.address };
    if (await act((signal) => api.call('receive', request, { signal }))) go('receive');
  };
  return (
    <Dialog
      title={t('people.receiveFrom', { name: harmless(sender.name ?? t('people.someSender')) })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('frame.cancel')}</Button>
          <Button look="primary" type="submit" form={form} busy={busy} disabled={code.trim() === ''}>
            {t('people.receive')}
          </Button>
        </>
      }
    >
      <p>{t('people.receiveText')}</p>
      <form id={form} onSubmit={(event) => void receive(event)}>
        <Field label={t('people.code')} error={error && errorText(error)}>
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
