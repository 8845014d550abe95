// SPDX-License-Identifier: MPL-2.0
import type { NearbySenderView } from '@keibidrop/daemon/local';
import { ArrowDownToLine, Laptop, Wifi } from 'lucide-react';
import { useState } from 'react';
import { harmless, PeerText } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { Row, RowList } from '../../components/layout/row-list.tsx';
import { Section } from '../../components/layout/section.tsx';
import { useTexts } from '../../texts/texts.ts';
import styles from './people.module.css';
import { ReceiveDialog } from './receive-dialog.tsx';
import { useNearby } from './use-nearby.ts';

/** Senders that wait on this computer and its networks. */
export function NearbySenders() {
  const { t } = useTexts();
  const { senders, looked } = useNearby();
  const [receiving, setReceiving] = useState<NearbySenderView>();
  return (
    <Section title={t('people.nearby')} about={t('people.nearbyText')}>
      {senders.length === 0 ? (
        <p className={styles.quietLine} role="status">
          {t(looked ? 'people.nobodyNearby' : 'people.looking')}
        </p>
      ) : (
        <RowList label={t('people.nearby')}>
          {senders.map((sender) => (
            <SenderRow key={sender.name ?? sender.address} sender={sender} onReceive={() => setReceiving(sender)} />
          ))}
        </RowList>
      )}
      {receiving && <ReceiveDialog sender={receiving} onClose={() => setReceiving(undefined)} />}
    </Section>
  );
}

function SenderRow({ sender, onReceive }: { sender: NearbySenderView; onReceive(): void }) {
  const { t } = useTexts();
  const { path, name, address } = sender;
  const Icon = path === 'local' ? Laptop : Wifi;
  return (
    <Row
      mark={<Icon size={20} aria-hidden="true" />}
      name={<PeerText text={name ?? t('people.someSender')} />}
      about={
        <>
          <span>{t(path === 'local' ? 'people.onThisComputer' : 'people.onThisNetwork')}</span>
          <span>{address}</span>
        </>
      }
      actions={
        <Button
          className={styles.compact}
          icon={ArrowDownToLine}
          aria-label={t('people.receiveFrom', { name: harmless(name ?? t('people.someSender')) })}
          onClick={onReceive}
        >
          {t('people.receive')}
        </Button>
      }
    />
  );
}
