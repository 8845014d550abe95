// SPDX-License-Identifier: MPL-2.0
import { Notice } from '../../components/notice.tsx';
import { Section } from '../../components/section.tsx';
import { useTexts } from '../../texts/texts.ts';

/** Shared folders as folders of the system: the daemon has no call for it. */
export function Mounting() {
  const { t } = useTexts();
  return (
    <Section title={t('mounts.mountTitle')}>
      <Notice look="info">
        <p>{t('mounts.mountMissing')}</p>
      </Notice>
    </Section>
  );
}
