// SPDX-License-Identifier: MPL-2.0
import { useEffect, useState } from 'react';
import { useApi } from '../../api/api-context.ts';
import { Notice } from '../../components/feedback/notice.tsx';
import { RowList } from '../../components/layout/row-list.tsx';
import { Section } from '../../components/layout/section.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { useTexts } from '../../texts/texts.ts';
import { MountRow } from './mount-row.tsx';

/** The mounted shares, or why mounting is unavailable. @param possible  there is a share to mount */
export function Mounting({ possible }: { possible: boolean }) {
  const { t } = useTexts();
  const mounts = useDaemon((state) => state.mounts);
  const unavailable = useUnavailable();
  if (!possible && mounts.length === 0) return null;
  return (
    <Section title={t('mounts.mountTitle')} about={t('mounts.mountText')}>
      {unavailable !== undefined && (
        <Notice look="info" title={t('mounts.mountUnavailable')}>
          <p lang="en">{unavailable}</p>
        </Notice>
      )}
      {mounts.length > 0 && (
        <RowList label={t('mounts.mountTitle')}>
          {mounts.map((mount) => (
            <MountRow key={mount.id} mount={mount} />
          ))}
        </RowList>
      )}
      {mounts.length === 0 && unavailable === undefined && <p>{t('mounts.mountNothing')}</p>}
    </Section>
  );
}

/** The daemon's reason why mounting is unavailable here. */
function useUnavailable(): string | undefined {
  const api = useApi();
  const [unavailable, setUnavailable] = useState<string>();
  useEffect(() => {
    api.call('mounts', {}).then(
      (reply) => setUnavailable(reply.unavailable),
      () => {}, // the notice of a lost daemon covers it
    );
  }, [api]);
  return unavailable;
}
