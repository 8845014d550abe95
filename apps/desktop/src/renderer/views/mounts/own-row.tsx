// SPDX-License-Identifier: MPL-2.0
import type { ShareView } from '@keibidrop/daemon/local';
import { Folder, FolderX } from 'lucide-react';
import { useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { harmless, PeerText } from '../../components/content/peer-text.tsx';
import { PlaceText } from '../../components/content/place-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { CopyButton } from '../../components/controls/copy-button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Row } from '../../components/layout/row-list.tsx';
import { useTexts } from '../../texts/texts.ts';
import styles from './mounts.module.css';

/** A folder of this computer that others can browse. */
export function OwnRow({ share }: { share: ShareView }) {
  const { t } = useTexts();
  const api = useApi();
  const [ending, setEnding] = useState(false);
  const { name, folder = '', readOnly, guests, code, to } = share;
  const shown = harmless(name);
  return (
    <Row
      mark={<Folder size={22} aria-hidden="true" />}
      name={<PeerText text={name} />}
      about={
        <>
          <PlaceText path={folder} />
          {readOnly && <span>{t('mounts.readOnly')}</span>}
          <span>{t('mounts.guests', { count: guests })}</span>
          {to.length > 0 && <span>{t('mounts.invited', { names: to.map(harmless).join(', ') })}</span>}
        </>
      }
      actions={
        <Button look="quiet" icon={FolderX} iconOnly onClick={() => setEnding(true)}>
          {t('mounts.endOf', { name: shown })}
        </Button>
      }
    >
      {code !== undefined && (
        <div className={styles.code}>
          <output className="code">{code}</output>
          <CopyButton text={code} label={t('mounts.copyCode')} />
        </div>
      )}
      {ending && (
        <ConfirmDialog
          title={t('mounts.endTitle', { name: shown })}
          text={t('mounts.endText')}
          verb={t('mounts.end')}
          onConfirm={() => api.call('endShare', { share: name })}
          onClose={() => setEnding(false)}
        />
      )}
    </Row>
  );
}
