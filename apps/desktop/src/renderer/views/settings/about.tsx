// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf } from '@keibidrop/daemon/local';
import type { ReactNode } from 'react';
import { PlaceText } from '../../components/content/place-text.tsx';
import { Card } from '../../components/layout/card.tsx';
import { Section } from '../../components/layout/section.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { useTexts } from '../../texts/texts.ts';
import { momentText } from '../../texts/times.ts';
import styles from './settings.module.css';

/** Version, folders and process of the daemon. */
export function About({ status }: { status: ReplyOf<'status'> | undefined }) {
  const { t, language } = useTexts();
  if (status === undefined) return null;
  const { version, configDir, stateDir, pid, started } = status;
  const since = momentText(started, Date.now(), language);
  return (
    <Section title={t('settings.about')}>
      <Card>
        <Stack as="dl" gap={4} className={styles.facts}>
          <Fact name={t('settings.version')}>{version}</Fact>
          <Fact name={t('settings.configDir')}>
            <code>
              <PlaceText path={configDir} />
            </code>
          </Fact>
          <Fact name={t('settings.stateDir')}>
            <code>
              <PlaceText path={stateDir} />
            </code>
          </Fact>
          <Fact name={t('settings.process')}>{t('settings.processText', { pid: String(pid), since })}</Fact>
          <Fact name={t('settings.licence')}>{t('settings.licenceText')}</Fact>
        </Stack>
      </Card>
    </Section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
