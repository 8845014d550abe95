// SPDX-License-Identifier: MPL-2.0
import { Search } from 'lucide-react';
import { Choice } from '../../components/controls/choice.tsx';
import { useTexts } from '../../texts/texts.ts';
import styles from './history.module.css';
import type { HistoryKind } from './history-list.ts';

export interface HistorySearchProps {
  kind: HistoryKind;
  onKind(kind: HistoryKind): void;
  search: string;
  onSearch(search: string): void;
  /** Number of matching entries. */
  found: number;
}

export function HistorySearch({ kind, onKind, search, onSearch, found }: HistorySearchProps) {
  const { t } = useTexts();
  const narrowed = kind !== 'all' || search.trim() !== '';
  return (
    <search className={styles.search}>
      <div className={styles.searchField}>
        <Search size={18} aria-hidden="true" />
        <input
          type="search"
          aria-label={t('history.search')}
          placeholder={t('history.searchHint')}
          value={search}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onSearch(event.target.value)}
        />
      </div>
      <Choice
        legend={t('history.show')}
        legendSpoken
        value={kind}
        options={[
          { value: 'all', label: t('history.all') },
          { value: 'send', label: t('history.sent') },
          { value: 'receive', label: t('history.received') },
        ]}
        onChange={onKind}
      />
      <p className="spoken" role="status">
        {narrowed ? t('history.found', { count: found }) : ''}
      </p>
    </search>
  );
}
