// SPDX-License-Identifier: MPL-2.0
import type { NearbySenderView } from '@keibidrop/daemon/local';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { CodeDialog } from '../../components/dialogs/code-dialog.tsx';
import { useReceiveCode } from '../../store/receive-code.ts';
import { go } from '../../store/route.ts';
import { useTexts } from '../../texts/texts.ts';

/** Asks for the code of a nearby sender, which the sender's user must pass on. */
export function ReceiveDialog({ sender, onClose }: { sender: NearbySenderView; onClose(): void }) {
  const { t } = useTexts();
  const api = useApi();
  const receive = async (code: string, signal: AbortSignal) => {
    const { transfer } = await api.call('receive', { code, near: sender.address }, { signal });
    // The field keeps the code until the sender has accepted it, and shows any error.
    if (transfer !== undefined) {
      useReceiveCode.setState({ code, near: sender.address, tried: { code, transfer: transfer.id } });
    }
    go('receive');
  };
  return (
    <CodeDialog
      title={t('people.receiveFrom', { name: harmless(sender.name ?? t('people.someSender')) })}
      text={t('people.receiveText')}
      label={t('people.code')}
      verb={t('people.receive')}
      onCode={receive}
      onClose={onClose}
    />
  );
}
