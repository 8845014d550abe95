// SPDX-License-Identifier: MPL-2.0
import { type FormEvent, useId, useState } from 'react';
import { codeIn } from '../../store/code-text.ts';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import { Button } from '../controls/button.tsx';
import { Field } from '../controls/field.tsx';
import { ErrorText } from '../feedback/error-text.tsx';
import { Dialog } from './dialog.tsx';

export interface CodeDialogProps {
  title: string;
  /** Explains whose code to type. */
  text: string;
  label: string;
  /** The action, as a verb. */
  verb: string;
  /** Runs the action; an error appears at the field. */
  onCode(code: string, signal: AbortSignal): Promise<unknown>;
  onClose(): void;
}

/** Asks for a code from the other person. */
export function CodeDialog({ title, text, label, verb, onCode, onClose }: CodeDialogProps) {
  const { t } = useTexts();
  const { act, busy, error } = useAction();
  const [code, setCode] = useState('');
  const form = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void act((signal) => onCode(codeIn(code) ?? code.trim(), signal));
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('frame.cancel')}</Button>
          <Button look="primary" type="submit" form={form} busy={busy} disabled={code.trim() === ''}>
            {verb}
          </Button>
        </>
      }
    >
      <p>{text}</p>
      <form id={form} onSubmit={submit}>
        <Field label={label} error={error && <ErrorText error={error} />}>
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
