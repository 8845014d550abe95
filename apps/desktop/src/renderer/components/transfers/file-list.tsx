// SPDX-License-Identifier: MPL-2.0
import type { FileView } from '@keibidrop/daemon/local';
import { useVirtualizer } from '@tanstack/react-virtual';
import { File, Folder, Link2, Search } from 'lucide-react';
import { type CSSProperties, memo, useEffect, useRef, useState } from 'react';
import { bytesText, percentText } from '../../../shared/number-text.ts';
import { errorText } from '../../texts/errors.ts';
import { type TextKey, useTexts } from '../../texts/texts.ts';
import { harmless, PeerText } from '../content/peer-text.tsx';
import { ErrorNotice } from '../feedback/error-notice.tsx';
import styles from './file-list.module.css';
import { useFilePages } from './file-pages.ts';

const ROW_PX = 36;
const BEYOND_ROWS = 6;
const STATES = ['pending', 'running', 'done', 'skipped', 'failed'] as const;

const STATE_TEXTS: Readonly<Record<string, TextKey>> = {
  pending: 'transfers.filePending',
  running: 'transfers.fileRunning',
  done: 'transfers.fileDone',
  skipped: 'transfers.fileSkipped',
  failed: 'transfers.fileFailed',
};

export interface FileListProps {
  transfer: number;
  /** The transfer still runs: refresh the visible rows. */
  live: boolean;
}

/** The files of a transfer with their progress. Renders only visible rows: 100,000 files scroll smoothly. */
export function FileList({ transfer, live }: FileListProps) {
  const { t } = useTexts();
  const [filter, setFilter] = useState('');
  const [state, setState] = useState('');
  const pages = useFilePages({ transfer, filter, state }, live);
  const { total, forgotten, error } = pages;
  return (
    <section aria-label={t('transfers.files')}>
      <div className={styles.tools}>
        <label className={styles.search}>
          <span className="spoken">{t('transfers.filter')}</span>
          <Search size={18} aria-hidden="true" />
          <input
            type="search"
            value={filter}
            placeholder={t('transfers.filter')}
            spellCheck={false}
            onChange={(event) => setFilter(event.target.value)}
          />
        </label>
        <span className={styles.count} role="status">
          {t('transfers.entryCount', { count: total })}
        </span>
        <select
          className={styles.state}
          aria-label={t('transfers.filterState')}
          value={state}
          onChange={(event) => setState(event.target.value)}
        >
          <option value="">{t('transfers.fileAll')}</option>
          {STATES.map((each) => (
            <option key={each} value={each}>
              {t(STATE_TEXTS[each] as TextKey)}
            </option>
          ))}
        </select>
      </div>
      <ErrorNotice error={error} />
      {forgotten && <p className={styles.count}>{t('transfers.filesForgotten')}</p>}
      {total > 0 && <Rows key={`${transfer} ${filter} ${state}`} pages={pages} />}
    </section>
  );
}

function Rows({ pages }: { pages: ReturnType<typeof useFilePages> }) {
  const { t } = useTexts();
  const { total, fileAt, look } = pages;
  const scroll = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: BEYOND_ROWS,
  });
  const rows = virtual.getVirtualItems();
  const first = rows[0]?.index ?? 0;
  const last = rows[rows.length - 1]?.index ?? 0;
  useEffect(() => look(first, last), [look, first, last]);
  const height = Math.min(total * ROW_PX + 2, 640);
  return (
    <section
      ref={scroll}
      className={styles.scroll}
      style={{ height }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
      tabIndex={0}
      aria-label={t('transfers.files')}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a list element cannot hold unrendered rows. */}
      <div className={styles.rows} style={{ height: virtual.getTotalSize() }} role="list">
        {rows.map(({ index, start }) => (
          <Row key={index} file={fileAt(index)} index={index} total={total} start={start} />
        ))}
      </div>
    </section>
  );
}

interface RowProps {
  file: FileView | undefined;
  index: number;
  total: number;
  start: number;
}

const Row = memo(
  function Row({ file, index, total, start }: RowProps) {
    const { t, language } = useTexts();
    const style: CSSProperties = { transform: `translateY(${start}px)` };
    const place = { role: 'listitem', 'aria-posinset': index + 1, 'aria-setsize': total, className: styles.row, style };
    if (file === undefined) return <div {...place} aria-busy="true" />;
    const { path, type, size, state } = file;
    const Icon = type === 'directory' ? Folder : type === 'symlink' ? Link2 : File;
    const slash = path.lastIndexOf('/') + 1;
    return (
      <div {...place}>
        <Icon size={16} aria-hidden="true" />
        <span className={styles.path} title={harmless(path)}>
          {slash > 0 && <PeerText className={styles.folder} text={path.slice(0, slash)} />}
          <PeerText text={path.slice(slash)} />
        </span>
        <span className={styles.size}>{type === 'file' || type === 'stream' ? bytesText(size, language) : ''}</span>
        <span className={[styles.how, styles[state]].filter(Boolean).join(' ')}>
          {howText(file, t, (share) => percentText(share, language))}
        </span>
      </div>
    );
  },
  (before, after) => before.start === after.start && before.total === after.total && sameFile(before.file, after.file),
);

function sameFile(a: FileView | undefined, b: FileView | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.path === b.path && a.state === b.state && a.bytes === b.bytes && a.size === b.size && a.code === b.code;
}

type Translated = ReturnType<typeof useTexts>['t'];

function howText({ state, bytes, size, code }: FileView, t: Translated, percent: (share: number) => string): string {
  if (state === 'failed' && code !== undefined) return errorText(t, { code, message: t('transfers.fileFailed') });
  if (state === 'running' && size > 0) return percent(Math.min(1, bytes / size));
  const key = STATE_TEXTS[state];
  return key === undefined ? state : t(key);
}
