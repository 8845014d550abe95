// SPDX-License-Identifier: MPL-2.0
import { File, FileUp, Folder, FolderUp, X } from 'lucide-react';
import { useEffect } from 'react';
import { bytesText } from '../../../shared/number-text.ts';
import { useApi } from '../../api/api-context.ts';
import { harmless, PeerText } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { type DraftItem, measureItem, removeItem, useDraft } from '../../store/draft.ts';
import { useTexts } from '../../texts/texts.ts';
import { Pick } from './pick.tsx';
import styles from './send.module.css';

/** The items of the draft with their sizes, and buttons to add more. */
export function GatheredItems() {
  const { t, language } = useTexts();
  const items = useDraft((draft) => draft.items);
  const looking = useDraft((draft) => draft.looking);
  const api = useApi();
  useEffect(() => {
    for (const item of items) void measureItem(api, item);
  }, [api, items]);
  const known = items.every(({ bytes }) => bytes !== undefined);
  const bytes = items.reduce((sum, item) => sum + (item.bytes ?? 0), 0);
  return (
    <>
      <div className={styles.head}>
        <div>
          <h2>{t('send.items', { count: items.length })}</h2>
          <p role="status">{looking ? t('send.looking') : known ? bytesText(bytes, language) : t('send.sizesLater')}</p>
        </div>
        <div className={styles.tools}>
          <Pick what="files" icon={FileUp} look="quiet">
            {t('send.addFiles')}
          </Pick>
          <Pick what="folders" icon={FolderUp} look="quiet">
            {t('send.addFolder')}
          </Pick>
        </div>
      </div>
      <ul className={styles.items}>
        {items.map((item) => (
          <Item key={item.id} item={item} />
        ))}
      </ul>
    </>
  );
}

function Item({ item }: { item: DraftItem }) {
  const { t, language } = useTexts();
  const { id, name, kind, files, bytes } = item;
  const Icon = kind === 'folder' ? Folder : File;
  const about = [
    kind === 'folder' && files !== undefined && t('transfers.fileCount', { count: files }),
    bytes !== undefined && bytesText(bytes, language),
  ];
  return (
    <li className={styles.item}>
      <Icon size={20} aria-hidden="true" />
      <span className={styles.itemName} title={harmless(name)}>
        <PeerText text={name} />
      </span>
      <span className={styles.itemAbout}>{about.filter(Boolean).join(' · ')}</span>
      <Button look="quiet" icon={X} iconOnly onClick={() => removeItem(id)}>
        {t('send.removeItem', { name: harmless(name) })}
      </Button>
    </li>
  );
}
