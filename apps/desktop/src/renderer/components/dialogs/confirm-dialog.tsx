// SPDX-License-Identifier: MPL-2.0
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import { Button } from '../controls/button.tsx';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import { Dialog } from './dialog.tsx';

export interface ConfirmDialogProps {
  title: string;
  text: string;
  /** The action, as a verb. */
  verb: string;
  /** Label of the other button, instead of "Cancel". */
  instead?: string;
  onConfirm(): Promise<unknown>;
  onClose(): void;
}

/** Asks before an action that cannot be undone, then runs it. */
export function ConfirmDialog({ title, text, verb, instead, onConfirm, onClose }: ConfirmDialogProps) {
  const { t } = useTexts();
  const { act, busy, error } = useAction();
  const confirm = async () => {
    if (await act(onConfirm)) onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{instead ?? t('frame.cancel')}</Button>
          <Button look="danger" busy={busy} onClick={() => void confirm()}>
            {verb}
          </Button>
        </>
      }
    >
      <p>{text}</p>
      <ErrorNotice error={error} />
    </Dialog>
  );
}
