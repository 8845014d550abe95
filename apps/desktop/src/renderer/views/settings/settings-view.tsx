// SPDX-License-Identifier: MPL-2.0
import { useApi } from '../../api/api-context.ts';
import { FolderField } from '../../components/controls/folder-field.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Card } from '../../components/layout/card.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { ViewHead } from '../../components/layout/view-head.tsx';
import { useStatus } from '../../store/use-status.ts';
import { useTexts } from '../../texts/texts.ts';
import { About } from './about.tsx';
import { DiscoverySetting } from './discovery-setting.tsx';
import { LookSettings } from './look-settings.tsx';
import { SettingForm } from './setting-form.tsx';
import styles from './settings.module.css';
import { TextSetting } from './text-setting.tsx';
import { useSettings } from './use-settings.ts';
import { WindowSettings } from './window-settings.tsx';

// Defaults of unset settings (config.ts of the peer).
const USUAL = { listen: '26431', code_length: '2', history_entries: '1000', history_days: '365' };

export function SettingsView() {
  const { t } = useTexts();
  const { shell } = useApi();
  const { settings, asking } = useSettings();
  const status = useStatus();
  return (
    <Stack gap={6} className={styles.view}>
      <ViewHead title={t('settings.title')} />
      <ErrorNotice error={asking.error} />
      <Section title={t('settings.receiving')}>
        <Card>
          <Stack gap={5} className={styles.rows}>
            <SettingForm name="save_path" setting={settings.get('save_path')}>
              {(control) => <FolderField label={t('settings.save_path')} placeholder={status?.savePath} {...control} />}
            </SettingForm>
            <TextSetting name="label" setting={settings.get('label')} {...(status && { placeholder: status.label })} />
          </Stack>
        </Card>
      </Section>
      <LookSettings />
      {shell && <WindowSettings shell={shell} />}
      <Section title={t('settings.sending')}>
        <Card>
          <Stack gap={5} className={styles.rows}>
            <TextSetting name="limit" setting={settings.get('limit')} />
            <TextSetting
              name="code_length"
              setting={settings.get('code_length')}
              placeholder={USUAL.code_length}
              numeric
            />
          </Stack>
        </Card>
      </Section>
      <Section title={t('settings.network')} about={t('settings.networkText')}>
        <Card>
          <Stack gap={5} className={styles.rows}>
            <TextSetting name="rendezvous" setting={settings.get('rendezvous')} />
            <DiscoverySetting setting={settings.get('discovery')} />
            <TextSetting name="listen" setting={settings.get('listen')} placeholder={USUAL.listen} />
            <TextSetting name="patience" setting={settings.get('patience')} />
          </Stack>
        </Card>
      </Section>
      <Section title={t('settings.remembering')}>
        <Card>
          <Stack gap={5} className={styles.rows}>
            <TextSetting
              name="history_entries"
              setting={settings.get('history_entries')}
              placeholder={USUAL.history_entries}
              numeric
            />
            <TextSetting
              name="history_days"
              setting={settings.get('history_days')}
              placeholder={USUAL.history_days}
              numeric
            />
          </Stack>
        </Card>
      </Section>
      <About status={status} />
    </Stack>
  );
}
