// SPDX-License-Identifier: MPL-2.0
import { ViewHead } from '../../components/view-head.tsx';
import { useTexts } from '../../texts/texts.ts';

export function MountsView() {
  const { t } = useTexts();
  return <ViewHead title={t('mounts.title')} />;
}
