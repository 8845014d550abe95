// SPDX-License-Identifier: MPL-2.0
import { useVirtualizer } from '@tanstack/react-virtual';
import { File, FileSymlink, Folder } from 'lucide-react';
import { useRef } from 'react';
import { bytesText } from '../../../shared/number-text.ts';
import { harmless, PeerText } from '../../components/content/peer-text.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { hrefOf } from '../../store/route.ts';
import { useTexts } from '../../texts/texts.ts';
import { momentText } from '../../texts/times.ts';
import styles from './mounts.module.css';
import type { ShareEntryView } from './share-place.ts';

const ROW_PX = 52;

export interface EntryListProps {
  label: string;
  entries: readonly ShareEntryView[];
  /** The folder that contains the entries. */
  place: string;
  /** Names of the chosen entries. */
  chosen: ReadonlySet<string>;
  onChoose(chosen: ReadonlySet<string>): void;
}

/** Entries of a folder. Renders only visible rows, because folders may be very large. */
export function EntryList({ label, entries, place, chosen, onChoose }: EntryListProps) {
  const scroller = useRef<HTMLElement>(null);
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChoose(next);
  };
  return (
    <Panel as="section" className={styles.scroller} ref={scroller} aria-label={label} tabIndex={0}>
      <ul className={styles.entries} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const entry = entries[index];
          return (
            entry && (
              <EntryRow
                key={entry.name}
                entry={entry}
                place={place}
                start={start}
                position={index + 1}
                count={entries.length}
                chosen={chosen.has(entry.name)}
                onToggle={() => toggle(entry.name)}
              />
            )
          );
        })}
      </ul>
    </Panel>
  );
}

interface EntryRowProps {
  entry: ShareEntryView;
  place: string;
  start: number;
  position: number;
  count: number;
  chosen: boolean;
  onToggle(): void;
}

const ICONS: Readonly<Record<string, typeof File>> = { directory: Folder, symlink: FileSymlink };

function EntryRow({ entry, place, start, position, count, chosen, onToggle }: EntryRowProps) {
  const { t, language } = useTexts();
  const { name, type, size, modified, target } = entry;
  const Icon = ICONS[type] ?? File;
  return (
    <li
      className={styles.entry}
      style={{ transform: `translateY(${start}px)` }}
      aria-posinset={position}
      aria-setsize={count}
      data-chosen={chosen}
    >
      <input
        type="checkbox"
        checked={chosen}
        aria-label={t('mounts.select', { name: harmless(name) })}
        onChange={onToggle}
      />
      <Icon size={20} aria-hidden="true" />
      <span className={styles.entryName}>
        {type === 'directory' ? (
          <a href={hrefOf('mounts', `${place}/${name}`)}>
            <PeerText text={name} />
          </a>
        ) : (
          <PeerText text={name} />
        )}
        {target !== undefined && <span className={styles.quiet}>{t('mounts.link', { target: harmless(target) })}</span>}
      </span>
      <span className={styles.modified}>{momentText(modified, Date.now(), language)}</span>
      <span className={styles.size}>{type === 'file' ? bytesText(size, language) : ''}</span>
    </li>
  );
}
