// SPDX-License-Identifier: MPL-2.0
import { ViewHead } from '../../components/view-head.tsx';
import { useTexts } from '../../texts/texts.ts';

export function HistoryView() {
  const { t } = useTexts();
  return <ViewHead title={t('history.title')} />;
}
