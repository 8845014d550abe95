// SPDX-License-Identifier: MPL-2.0
import { Play } from 'lucide-react';
import { wasStopped } from '../../shared/daemon-state.ts';
import { useApi } from '../api/api-context.ts';
import { Button } from '../components/controls/button.tsx';
import { Notice } from '../components/feedback/notice.tsx';
import { useDaemon } from '../store/daemon-store.ts';
import { useTexts } from '../texts/texts.ts';

/** Shown when the daemon does not answer, with what to do about it. */
export function LinkNotice() {
  const { t } = useTexts();
  const { shell } = useApi();
  const link = useDaemon((state) => state.link);
  if (link.state !== 'lost') return null;
  if (link.error.code === 'DAEMON_REFUSED') {
    return (
      <Notice look="danger" title={t('frame.unauthorizedTitle')}>
        <p>{t('frame.unauthorizedText')}</p>
      </Notice>
    );
  }
  if (link.error.code === 'DAEMON_INCOMPATIBLE') {
    return (
      <Notice look="danger" title={t('frame.versionTitle')}>
        <p>{t('errors.DAEMON_INCOMPATIBLE')}</p>
      </Notice>
    );
  }
  if (wasStopped(link)) {
    return (
      <Notice look="warning" title={t('frame.stoppedTitle')}>
        <p>{t('frame.stoppedText')}</p>
        {shell === undefined ? (
          <p>{t('frame.stoppedBrowser')}</p>
        ) : (
          <Button icon={Play} onClick={() => shell.restartDaemon()}>
            {t('frame.restart')}
          </Button>
        )}
      </Notice>
    );
  }
  return (
    <Notice look="warning" title={t('frame.lostTitle')}>
      <p>{t('frame.lostText')}</p>
      {shell === undefined && <p>{t('frame.lostBrowser')}</p>}
    </Notice>
  );
}
