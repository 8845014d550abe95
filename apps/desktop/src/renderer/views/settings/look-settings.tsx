// SPDX-License-Identifier: MPL-2.0
import { Choice } from '../../components/controls/choice.tsx';
import { Field } from '../../components/controls/field.tsx';
import { Card } from '../../components/layout/card.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { changeLook, useLook } from '../../store/preferences.ts';
import { useTexts } from '../../texts/texts.ts';
import styles from './settings.module.css';

/** Each language in its own words, so that its speakers find it. */
const LANGUAGES = { en: 'English', de: 'Deutsch', es: 'Español' } as const;

/** Theme and language of the page. */
export function LookSettings() {
  const { t } = useTexts();
  const { theme, language } = useLook();
  return (
    <Section title={t('settings.look')}>
      <Card>
        <Stack gap={5} className={styles.rows}>
          <Choice
            legend={t('settings.theme')}
            value={theme}
            options={[
              { value: 'system', label: t('settings.themeSystem') },
              { value: 'light', label: t('settings.themeLight') },
              { value: 'dark', label: t('settings.themeDark') },
            ]}
            onChange={(next) => changeLook({ theme: next })}
          />
          <Field label={t('settings.language')}>
            {(control) => (
              <select
                {...control}
                value={language}
                onChange={(event) => changeLook({ language: event.target.value as typeof language })}
              >
                <option value="system">{t('settings.languageSystem')}</option>
                {Object.entries(LANGUAGES).map(([tag, name]) => (
                  <option key={tag} value={tag} lang={tag}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </Stack>
      </Card>
    </Section>
  );
}
