// SPDX-License-Identifier: MPL-2.0
import type { ShareView } from '@keibidrop/daemon/local';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { FolderField } from '../../components/controls/folder-field.tsx';
import { Switch } from '../../components/controls/switch.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { ErrorText } from '../../components/feedback/error-text.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';

/** Asks where to mount a share. */
export function MountDialog({
  share: { name: share, readOnly: fixed, contact },
  onClose,
}: {
  share: ShareView;
  onClose(): void;
}) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const [folder, setFolder] = useState('');
  const [readOnly, setReadOnly] = useState(false);
  const [keepCache, setKeepCache] = useState(false);
  const form = useId();
  useEffect(() => {
    // Suggest a folder; the user may type another.
    const suggest = ({ savePath }: { savePath: string }) =>
      setFolder((typed) => typed || `${savePath}/${harmless(share)}`);
    api.call('status', {}).then(suggest, () => {});
  }, [api, share]);
  const mount = async (event: FormEvent) => {
    event.preventDefault();
    const mounted = await act((signal) =>
      api.call('mount', { target: share, folder: folder.trim(), readOnly, keepCache }, { signal }),
    );
    if (mounted) onClose();
  };
  return (
    <Dialog
      title={t('mounts.mountDialog', { name: harmless(share) })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('frame.cancel')}</Button>
          <Button look="primary" type="submit" form={form} busy={busy} disabled={folder.trim() === ''}>
            {t('mounts.mountButton')}
          </Button>
        </>
      }
    >
      <p>{t('mounts.mountText')}</p>
      <Stack as="form" gap={5} id={form} onSubmit={(event) => void mount(event)}>
        <FolderField
          label={t('mounts.mountPlace')}
          hint={t('mounts.mountPlaceHint')}
          value={folder}
          error={error && <ErrorText error={error} />}
          onChange={setFolder}
        />
        {!fixed && (
          <Switch
            label={t('mounts.readOnly')}
            hint={t('mounts.mountReadOnlyHint')}
            checked={readOnly}
            onChange={setReadOnly}
          />
        )}
        {contact !== undefined && (
          <Switch
            label={t('mounts.keepCache')}
            hint={t('mounts.keepCacheHint')}
            checked={keepCache}
            onChange={setKeepCache}
          />
        )}
      </Stack>
    </Dialog>
  );
}
