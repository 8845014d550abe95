// SPDX-License-Identifier: MPL-2.0
import { parseFingerprint } from '@keibidrop/daemon/local';
import { type FormEvent, useId, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/controls/button.tsx';
import { Field } from '../../components/controls/field.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { ErrorText } from '../../components/feedback/error-text.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';

export interface AddDialogProps {
  /** Initial values of the fields. */
  name: string;
  link: string;
  onAdded(name: string): void;
  onClose(): void;
}

/** Adds a contact by link or fingerprint. */
export function AddDialog({ name: firstName, link: firstLink, onAdded, onClose }: AddDialogProps) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error, forget } = useAction();
  const [name, setName] = useState(firstName);
  const [link, setLink] = useState(firstLink);
  const [wrongLink, setWrongLink] = useState(false);
  const form = useId();
  const add = async (event: FormEvent) => {
    event.preventDefault();
    forget();
    setWrongLink(!isFingerprint(link));
    if (!isFingerprint(link)) return;
    let added = name;
    const done = await act(async (signal) => {
      added = (await api.call('addContact', { name, fingerprint: link }, { signal })).contact?.name ?? name;
    });
    if (done) onAdded(added);
  };
  return (
    <Dialog
      title={t('people.addTitle')}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('frame.cancel')}</Button>
          <Button
            look="primary"
            type="submit"
            form={form}
            busy={busy}
            disabled={name.trim() === '' || link.trim() === ''}
          >
            {t('people.addButton')}
          </Button>
        </>
      }
    >
      <p>{t('people.addText')}</p>
      <Stack as="form" gap={4} id={form} onSubmit={(event) => void add(event)}>
        <Field label={t('people.addName')} hint={t('people.nameHint')} error={error && <ErrorText error={error} />}>
          {(control) => (
            <input {...control} value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field
          label={t('people.addLink')}
          hint={t('people.addLinkHint')}
          error={wrongLink ? t('people.addLinkWrong') : undefined}
        >
          {(control) => (
            <textarea
              {...control}
              rows={3}
              value={link}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => {
                setLink(event.target.value);
                setWrongLink(false);
              }}
            />
          )}
        </Field>
      </Stack>
    </Dialog>
  );
}

function isFingerprint(text: string): boolean {
  try {
    parseFingerprint(text);
    return true;
  } catch {
    return false;
  }
}
