// SPDX-License-Identifier: MPL-2.0
import { type FormEvent, useId, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { PeerText } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { FolderField } from '../../components/controls/folder-field.tsx';
import { Switch } from '../../components/controls/switch.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './mounts.module.css';

/** Asks for a folder to share and who may browse it. */
export function ShareDialog({ onClose }: { onClose(): void }) {
  const { t } = useTexts();
  const api = useApi();
  const { act, busy, error } = useAction();
  const [path, setPath] = useState('');
  const [readOnly, setReadOnly] = useState(true);
  const [to, setTo] = useState<readonly string[]>([]);
  const form = useId();
  const share = async (event: FormEvent) => {
    event.preventDefault();
    if (await act((signal) => api.call('addShare', { path, readOnly, to: [...to] }, { signal }))) onClose();
  };
  return (
    <Dialog
      title={t('mounts.shareTitle')}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('frame.cancel')}</Button>
          <Button look="primary" type="submit" form={form} busy={busy} disabled={path === ''}>
            {t('mounts.shareButton')}
          </Button>
        </>
      }
    >
      <Stack as="form" gap={5} id={form} onSubmit={(event) => void share(event)}>
        <FolderField label={t('mounts.folder')} value={path} onChange={setPath} />
        <Switch
          label={t('mounts.readOnly')}
          hint={t('mounts.readOnlyHint')}
          checked={readOnly}
          onChange={setReadOnly}
        />
        <Invited to={to} onChange={setTo} />
      </Stack>
      <ErrorNotice error={error} />
    </Dialog>
  );
}

function Invited({ to, onChange }: { to: readonly string[]; onChange(to: readonly string[]): void }) {
  const { t } = useTexts();
  const contacts = useDaemon((state) => state.contacts).filter(({ blocked }) => !blocked);
  if (contacts.length === 0) return null;
  return (
    <fieldset className={styles.invited}>
      <legend>{t('mounts.inviteWho')}</legend>
      <p>{t('mounts.inviteHint')}</p>
      {contacts.map(({ name }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={to.includes(name)}
            onChange={({ target }) => onChange(target.checked ? [...to, name] : to.filter((each) => each !== name))}
          />
          <PeerText text={name} />
        </label>
      ))}
    </fieldset>
  );
}
