// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from 'react';
import type { Preferences, Shell } from '../../../shared/api.ts';
import { Switch } from '../../components/controls/switch.tsx';
import { ErrorNotice } from '../../components/feedback/error-notice.tsx';
import { Card } from '../../components/layout/card.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { useAction } from '../../store/use-action.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './settings.module.css';

/** Preferences that only the window has. */
export function WindowSettings({ shell }: { shell: Shell }) {
  const { t } = useTexts();
  const { act, follow, error } = useAction();
  const [preferences, setPreferences] = useState<Preferences>();
  useEffect(() => {
    void act(async () => setPreferences(await shell.preferences()));
  }, [act, shell]);
  const change = (changes: Partial<Preferences>) =>
    void follow(async () => setPreferences(await shell.changePreferences(changes)));
  return (
    <Section title={t('settings.window')}>
      <Card>
        <Stack gap={5} className={styles.rows}>
          {preferences && (
            <>
              <Switch
                label={t('settings.startAtLogin')}
                hint={t('settings.startAtLoginHint')}
                checked={preferences.startAtLogin}
                onChange={(startAtLogin) => change({ startAtLogin })}
              />
              <Switch
                label={t('settings.closeToTray')}
                hint={t('settings.closeToTrayHint')}
                checked={preferences.closeToTray}
                onChange={(closeToTray) => change({ closeToTray })}
              />
            </>
          )}
          <ErrorNotice error={error} />
        </Stack>
      </Card>
    </Section>
  );
}
