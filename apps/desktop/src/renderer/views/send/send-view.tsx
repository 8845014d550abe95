// SPDX-License-Identifier: MPL-2.0
import { useEffect } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { awaitsReceivers } from '../../../shared/transfer-progress.ts';
import { ViewHead } from '../../components/layout/view-head.tsx';
import { CodeCard } from '../../components/transfers/code-card.tsx';
import { TransferCard } from '../../components/transfers/transfer-card.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { draftRecipients, draftText, gather, itemOfPath, useDraft } from '../../store/draft.ts';
import { useIntent } from '../../store/intents.ts';
import { recentIds } from '../../store/recent.ts';
import { useRoute } from '../../store/route.ts';
import { useTexts } from '../../texts/texts.ts';
import { Compose } from './compose.tsx';
import { DropZone } from './drop-zone.tsx';
import { usePaste } from './paste.ts';
import styles from './send.module.css';

/** The draft, and current sends with code and progress. */
export function SendView() {
  const { t } = useTexts();
  const contact = useRoute((route) => route.item);
  const begun = useDraft(({ items, text }) => items.length > 0 || text !== undefined);
  const active = useDaemon(useShallow((state) => recentIds(state, 'send')));
  usePaste();
  useEffect(() => {
    if (contact !== undefined) draftRecipients([contact]);
  }, [contact]);
  useIntent('send', ({ paths, to }) => {
    if (paths.length > 0) void gather(Promise.resolve(paths.map((path) => itemOfPath(path, 'file'))));
    else draftText('');
    if (to !== undefined) draftRecipients([to]);
  });
  return (
    <>
      <ViewHead title={t('send.title')} />
      {begun ? <Compose /> : <DropZone compact={active.length > 0} />}
      {active.length > 0 && (
        <section className={styles.active} aria-label={t('send.active')} aria-live="polite">
          {active.map((id) => (
            <Sent key={id} id={id} />
          ))}
        </section>
      )}
    </>
  );
}

/** The code while receivers can still join, and the progress once one has. */
function Sent({ id }: { id: number }) {
  const coded = useDaemon(({ transfers }) => {
    const transfer = transfers.get(id);
    return transfer !== undefined && awaitsReceivers(transfer) ? transfer : undefined;
  });
  return (
    <>
      {coded?.state !== 'waiting' && <TransferCard id={id} />}
      {coded && <CodeCard transfer={coded} />}
    </>
  );
}
