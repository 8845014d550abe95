// SPDX-License-Identifier: MPL-2.0
import { History, Trash2 } from 'lucide-react';
import { useDeferredValue, useMemo, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { EmptyState } from '../../components/feedback/empty-state.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { ViewHead } from '../../components/layout/view-head.tsx';
import { useTexts } from '../../texts/texts.ts';
import styles from './history.module.css';
import { HistoryDays } from './history-days.tsx';
import { type HistoryKind, matching } from './history-list.ts';
import { HistorySearch } from './history-search.tsx';
import { useHistory } from './use-history.ts';

/** Rows shown at first, and added at each click. */
const SHOWN = 100;

export function HistoryView() {
  const { t } = useTexts();
  const api = useApi();
  const { entries, error, reload } = useHistory();
  const [kind, setKind] = useState<HistoryKind>('all');
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState(SHOWN);
  const [clearing, setClearing] = useState(false);
  const sought = useDeferredValue(search);
  const found = useMemo(() => matching(entries ?? [], { kind, search: sought }), [entries, kind, sought]);
  const clear = async () => {
    await api.call('clearHistory', {});
    reload();
  };
  return (
    <>
      <ViewHead title={t('history.title')}>
        {entries !== undefined && entries.length > 0 && (
          <Button icon={Trash2} onClick={() => setClearing(true)}>
            {t('history.clear')}
          </Button>
        )}
      </ViewHead>
      <ErrorNotice error={error} />
      {entries?.length === 0 && (
        <EmptyState icon={History} title={t('history.emptyTitle')}>
          <p>{t('history.emptyText')}</p>
        </EmptyState>
      )}
      {entries !== undefined && entries.length > 0 && (
        <>
          <HistorySearch kind={kind} onKind={setKind} search={search} onSearch={setSearch} found={found.length} />
          <HistoryDays entries={found.slice(0, shown)} />
          {found.length === 0 && (
            <EmptyState icon={History} title={t('history.noneTitle')}>
              <p>{t('history.noneText')}</p>
            </EmptyState>
          )}
          {found.length > shown && (
            <div className={styles.more}>
              <Button onClick={() => setShown(shown + SHOWN)}>{t('history.more')}</Button>
            </div>
          )}
        </>
      )}
      {clearing && (
        <ConfirmDialog
          title={t('history.clearTitle')}
          text={t('history.clearText')}
          verb={t('history.clear')}
          onConfirm={clear}
          onClose={() => setClearing(false)}
        />
      )}
    </>
  );
}
