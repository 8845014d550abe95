// SPDX-License-Identifier: MPL-2.0
import { ArrowUpFromLine, Clipboard, FileUp, FolderUp, Type } from 'lucide-react';
import { Button } from '../../components/controls/button.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { draftText, useDraft } from '../../store/draft.ts';
import { useTexts } from '../../texts/texts.ts';
import { pasteFromClipboard } from './paste.ts';
import { People } from './people.tsx';
import { Pick } from './pick.tsx';
import styles from './send.module.css';

/** Shown while the draft is empty. @param compact  smaller, because sends are shown below */
export function DropZone({ compact }: { compact: boolean }) {
  const { t } = useTexts();
  const looking = useDraft((draft) => draft.looking);
  const error = useDraft((draft) => draft.error);
  return (
    <section className={styles.compose} aria-label={t('send.choose')}>
      <div className={[styles.zone, compact && styles.compact].filter(Boolean).join(' ')} aria-busy={looking}>
        <span className={styles.zoneMark}>
          <ArrowUpFromLine size={compact ? 22 : 32} strokeWidth={1.8} aria-hidden="true" />
        </span>
        <div>
          <h2>{t(looking ? 'send.looking' : compact ? 'send.dropMore' : 'send.drop')}</h2>
          {!compact && <p>{t('send.dropHint')}</p>}
        </div>
        <div className={styles.picks}>
          <Pick what="files" icon={FileUp} {...(!compact && { look: 'primary' })}>
            {t('send.pickFiles')}
          </Pick>
          <Pick what="folders" icon={FolderUp}>
            {t('send.pickFolder')}
          </Pick>
          <Button icon={Type} onClick={() => draftText('')}>
            {t('send.text')}
          </Button>
          <Button icon={Clipboard} onClick={() => void pasteFromClipboard()}>
            {t('send.paste')}
          </Button>
        </div>
      </div>
      <ErrorNotice error={error} />
      {!compact && <People />}
    </section>
  );
}
