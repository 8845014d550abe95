// SPDX-License-Identifier: MPL-2.0
import type { HistoryEntryView } from '@keibidrop/daemon/local';
import { memo } from 'react';
import { RowList } from '../../components/layout/row-list.tsx';
import { Section } from '../../components/layout/section.tsx';
import { useTexts } from '../../texts/texts.ts';
import { dayText } from '../../texts/times.ts';
import { inDays } from './history-list.ts';
import { HistoryRow } from './history-row.tsx';

/** Entries grouped by the day on which they ended. */
export const HistoryDays = memo(function HistoryDays({ entries }: { entries: readonly HistoryEntryView[] }) {
  const { language } = useTexts();
  const now = Date.now();
  return inDays(entries).map((day) => {
    const title = dayText(day.at, now, language);
    return (
      <Section key={day.key} title={title}>
        <RowList label={title}>
          {day.entries.map((entry, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same time, and none changes.
            <HistoryRow key={`${entry.time} ${i}`} entry={entry} />
          ))}
        </RowList>
      </Section>
    );
  });
});
