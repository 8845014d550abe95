// SPDX-License-Identifier: MPL-2.0
import { useApi } from '../../api/api-context.ts';
import { CodeDialog } from '../../components/dialogs/code-dialog.tsx';
import { go } from '../../store/route.ts';
import { useTexts } from '../../texts/texts.ts';

export function ConnectDialog({ onClose }: { onClose(): void }) {
  const { t } = useTexts();
  const api = useApi();
  const connect = async (code: string, signal: AbortSignal) => {
    const { share } = await api.call('connect', { code }, { signal });
    if (share !== undefined) go('mounts', share.name);
  };
  return (
    <CodeDialog
      title={t('mounts.connectTitle')}
      text={t('mounts.connectText')}
      label={t('mounts.codeField')}
      verb={t('mounts.connectButton')}
      onCode={connect}
      onClose={onClose}
    />
  );
}
