// SPDX-License-Identifier: MPL-2.0
import { useShallow } from 'zustand/react/shallow';
import { ReceivedText } from '../../components/content/received-text.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { ViewHead } from '../../components/layout/view-head.tsx';
import { Prompts } from '../../components/prompts/prompts.tsx';
import { TransferCard } from '../../components/transfers/transfer-card.tsx';
import { useDaemon } from '../../store/daemon-store.ts';
import { useIntent } from '../../store/intents.ts';
import { setReceiveCode } from '../../store/receive-code.ts';
import { recentIds } from '../../store/recent.ts';
import { useTexts } from '../../texts/texts.ts';
import { ReceiveForm } from './receive-form.tsx';

/** The code form, pending offers and recent receives. */
export function ReceiveView() {
  const { t } = useTexts();
  const recent = useDaemon(useShallow((state) => recentIds(state, 'receive')));
  useIntent('receive', (intent) => setReceiveCode(intent.code));
  return (
    <>
      <ViewHead title={t('receive.title')} />
      <Prompts />
      <ReceiveForm />
      {recent.length > 0 && (
        <Stack as="section" gap={3} aria-label={t('receive.recent')} aria-live="polite">
          {recent.map((id) => (
            <Received key={id} id={id} />
          ))}
        </Stack>
      )}
    </>
  );
}

function Received({ id }: { id: number }) {
  const text = useDaemon(({ transfers }) => transfers.get(id)?.text);
  return (
    <>
      <TransferCard id={id} />
      {text !== undefined && <ReceivedText text={text} />}
    </>
  );
}
