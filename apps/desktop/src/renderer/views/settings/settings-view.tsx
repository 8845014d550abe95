// SPDX-License-Identifier: MPL-2.0
import { ViewHead } from '../../components/view-head.tsx';
import { useTexts } from '../../texts/texts.ts';

export function SettingsView() {
  const { t } = useTexts();
  return <ViewHead title={t('settings.title')} />;
}
