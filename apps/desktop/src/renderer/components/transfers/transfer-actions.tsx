// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import { ChevronsUp, FolderOpen, Pause, Play, RotateCcw, Trash2, X } from 'lucide-react';
import { hasEnded } from '../../../shared/daemon-state.ts';
import { useApi } from '../../api/api-context.ts';
import type { ActionRunner } from '../../store/use-action.ts';
import type { TextKey } from '../../texts/texts.ts';
import { useTexts } from '../../texts/texts.ts';
import { Button, type ButtonProps } from '../controls/button.tsx';

type Action = 'pause' | 'resume' | 'cancel' | 'retry' | 'first' | 'remove';

const LOOKS: Readonly<Record<Action, { icon: ButtonProps['icon']; text: TextKey }>> = {
  pause: { icon: Pause, text: 'transfers.pause' },
  resume: { icon: Play, text: 'transfers.resume' },
  cancel: { icon: X, text: 'transfers.cancel' },
  retry: { icon: RotateCcw, text: 'transfers.retry' },
  first: { icon: ChevronsUp, text: 'transfers.first' },
  remove: { icon: Trash2, text: 'transfers.remove' },
};

type Acted = Pick<TransferView, 'id' | 'kind' | 'state' | 'retriable' | 'place' | 'files' | 'text' | 'pausedBy'>;

/** The actions available in the current state. */
export function actionsOf({ state, retriable, pausedBy }: Pick<Acted, 'state' | 'retriable' | 'pausedBy'>): Action[] {
  switch (state) {
    case 'queued':
      return ['first', 'pause', 'cancel'];
    case 'paused':
      // Only the side that paused a transfer can resume it.
      return pausedBy === 'peer' ? ['pause', 'cancel'] : ['resume', 'cancel'];
    case 'done':
      return ['remove'];
    case 'failed':
    case 'cancelled':
      return retriable ? ['retry', 'remove'] : ['remove'];
    default:
      return ['pause', 'cancel'];
  }
}

/** Buttons such as pause and cancel. `icons`: without text, where there are many in a row. */
export function TransferActions({
  transfer,
  runner,
  icons,
}: {
  transfer: Acted;
  runner: ActionRunner;
  icons?: boolean;
}) {
  const { t } = useTexts();
  const api = useApi();
  const { id, kind, place, text, files } = transfer;
  const control = (action: Action) => runner.act((signal) => api.call('control', { transfer: id, action }, { signal }));
  const open = () =>
    runner.act(async (signal) => {
      if (api.shell !== undefined && place !== undefined) await api.shell.reveal(place);
      else await api.call('openPlace', { transfer: id }, { signal });
    });
  const look = icons ? ({ look: 'quiet', iconOnly: true } as const) : {};
  return (
    <>
      {hasEnded(transfer) && kind === 'receive' && files > 0 && text === undefined && (
        <Button icon={FolderOpen} {...look} onClick={open}>
          {t('transfers.open')}
        </Button>
      )}
      {actionsOf(transfer).map((action) => {
        const { icon, text: key } = LOOKS[action];
        return (
          <Button key={action} {...(icon && { icon })} {...look} onClick={() => control(action)}>
            {t(key)}
          </Button>
        );
      })}
    </>
  );
}
