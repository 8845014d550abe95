// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/daemon/local';
import { CornerLeftUp, Folder, House } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ApiError } from '../../../shared/api.ts';
import { bytesText } from '../../../shared/number-text.ts';
import { useApi } from '../../api/api-context.ts';
import { apiErrorOf } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import { PeerText } from '../content/peer-text.tsx';
import { PlaceText } from '../content/place-text.tsx';
import { Button } from '../controls/button.tsx';
import styles from '../controls/folder-field.module.css';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import { Dialog } from './dialog.tsx';

export interface FolderDialogProps {
  start: string | undefined;
  onClose(): void;
  onChoose(path: string): void;
}

/** Lists the folders of the daemon's computer, for a browser, which cannot see them. */
export function FolderDialog({ start, onClose, onChoose }: FolderDialogProps) {
  const { t, language } = useTexts();
  const { at, error, goTo } = useFolder(start);
  return (
    <Dialog
      title={t('frame.chooseFolder')}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('frame.cancel')}</Button>
          <Button look="primary" disabled={at?.writable !== true} onClick={() => at && onChoose(at.path)}>
            {t('frame.chooseThis')}
          </Button>
        </>
      }
    >
      <ErrorNotice error={error} />
      {at && (
        <>
          <div>
            <p className={styles.where} role="status">
              <PlaceText path={at.path} />
            </p>
            <p className={styles.about}>
              {at.writable
                ? at.freeBytes !== undefined && t('frame.free', { size: bytesText(at.freeBytes, language) })
                : t('frame.notWritable')}
            </p>
          </div>
          <ul className={styles.folders}>
            {at.path !== at.home && <Entry icon={House} name={t('frame.homeFolder')} onGo={() => goTo(at.home)} />}
            {at.parent !== undefined && (
              <Entry icon={CornerLeftUp} name={t('frame.folderAbove')} onGo={() => goTo(at.parent ?? at.path)} />
            )}
            {at.folders.map((name) => (
              <Entry key={name} icon={Folder} name={name} onGo={() => goTo(below(at.path, name))} />
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}

function Entry({ icon: Icon, name, onGo }: { icon: typeof Folder; name: string; onGo(): void }) {
  return (
    <li>
      <button type="button" className={styles.folder} onClick={onGo}>
        <Icon size={18} aria-hidden="true" />
        <PeerText text={name} />
      </button>
    </li>
  );
}

function useFolder(start: string | undefined) {
  const api = useApi();
  const [path, setPath] = useState(start ?? '');
  const [at, setAt] = useState<ReplyOf<'listFolders'>>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    const over = new AbortController();
    api.call('listFolders', { path }, { signal: over.signal }).then(
      (reply) => {
        setAt(reply);
        setError(undefined);
      },
      (reason) => {
        if (over.signal.aborted) return;
        setError(apiErrorOf(reason));
        // A typed folder may not exist; fall back to the default folder.
        if (path !== '') setPath('');
      },
    );
    return () => over.abort();
  }, [api, path]);
  return { at, error, goTo: setPath };
}

function below(path: string, name: string): string {
  const separator = path.includes('\\') ? '\\' : '/';
  return path.endsWith(separator) ? path + name : path + separator + name;
}
