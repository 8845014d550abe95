// SPDX-License-Identifier: MPL-2.0
import type { ContactView } from '@keibidrop/daemon/local';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useTexts } from '../../texts/texts.ts';

export function RemoveDialog({ contact: { name }, onClose }: { contact: ContactView; onClose(): void }) {
  const { t } = useTexts();
  const api = useApi();
  return (
    <ConfirmDialog
      title={t('people.removeTitle', { name: harmless(name) })}
      text={t('people.removeText')}
      verb={t('people.remove')}
      instead={t('people.keep')}
      onConfirm={() => api.call('removeContact', { name })}
      onClose={onClose}
    />
  );
}
