// SPDX-License-Identifier: MPL-2.0
import type { MountView } from '@keibidrop/daemon/local';
import { HardDrive } from 'lucide-react';
import { useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Row } from '../../components/layout/row-list.tsx';
import { withTilde } from '../../store/home-path.ts';
import { useAction } from '../../store/use-action.ts';
import { useHome } from '../../store/use-status.ts';
import type { TextKey } from '../../texts/texts.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './mounts.module.css';

const STATES: Readonly<Record<string, TextKey>> = {
  open: 'mounts.mountStateOpen',
  away: 'mounts.mountStateAway',
  waiting: 'mounts.mountStateWaiting',
};

/** A share mounted as a folder of this computer. */
export function MountRow({ mount: { folder, state, share, peer, readOnly } }: { mount: MountView }) {
  const { t } = useTexts();
  const shown = harmless(withTilde(folder, useHome()));
  const api = useApi();
  const { act, busy, error } = useAction();
  /** Why it cannot be unmounted: number of files not sent yet, or 0 if a program uses it. */
  const [unsent, setUnsent] = useState<number>();
  const open = () => (api.shell ? api.shell.reveal(folder) : api.call('openPlace', { path: folder }));
  const unmount = async (signal: AbortSignal) => {
    await api
      .call('unmount', { folder }, { signal })
      .catch((reason: { code?: string; detail?: { unsent?: number } }) => {
        if (reason.code !== 'MOUNT_BUSY') throw reason;
        setUnsent(reason.detail?.unsent ?? 0);
      });
  };
  return (
    <Row
      mark={<HardDrive size={22} aria-hidden="true" />}
      name={<bdi>{shown}</bdi>}
      about={
        <>
          <span className={state === 'open' ? styles.connected : undefined}>
            {t(STATES[state] ?? 'mounts.mountStateWaiting')}
          </span>
          <bdi>{harmless(share)}</bdi>
          {peer !== undefined && <bdi>{t('mounts.from', { peer: harmless(peer) })}</bdi>}
          {readOnly && <span>{t('mounts.readOnly')}</span>}
        </>
      }
      actions={
        <>
          <Button
            disabled={state === 'waiting'}
            aria-label={t('mounts.mountOpenOf', { folder: shown })}
            onClick={() => void act(open)}
          >
            {t('mounts.mountOpen')}
          </Button>
          <Button busy={busy} aria-label={t('mounts.unmountOf', { folder: shown })} onClick={() => void act(unmount)}>
            {t('mounts.unmount')}
          </Button>
        </>
      }
    >
      {error && <ErrorNotice error={error} />}
      {unsent !== undefined && (
        <ConfirmDialog
          title={t('mounts.unmountOf', { folder: shown })}
          text={
            unsent > 0
              ? t('mounts.unmountUnsent', { folder: shown, files: unsent })
              : t('mounts.unmountBusy', { folder: shown })
          }
          verb={t(unsent > 0 ? 'mounts.unmountLose' : 'mounts.unmountForce')}
          onConfirm={() => api.call('unmount', { folder, force: true })}
          onClose={() => setUnsent(undefined)}
        />
      )}
    </Row>
  );
}
