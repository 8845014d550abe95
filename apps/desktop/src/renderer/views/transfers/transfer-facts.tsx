// SPDX-License-Identifier: MPL-2.0
import type { TransferView, WayView } from '@keibidrop/daemon/local';
import type { ReactNode } from 'react';
import { PeerText } from '../../components/content/peer-text.tsx';
import { PlaceText } from '../../components/content/place-text.tsx';
import { Disclosure } from '../../components/layout/disclosure.tsx';
import { Stack } from '../../components/layout/stack.tsx';
import { pathText } from '../../components/transfers/transfer-words.tsx';
import { errorText } from '../../texts/errors.ts';
import { useTexts } from '../../texts/texts.ts';
import { momentText } from '../../texts/times.ts';
import styles from './transfers.module.css';

/** Peer, path and its reason, encryption, and place of a transfer. */
export function TransferFacts({ transfer }: { transfer: TransferView }) {
  const { t, language } = useTexts();
  const { kind, peer, contact, path, suite, place, added, incognito, tried, peers } = transfer;
  const verified = peers.length === 1 ? peers[0]?.verified : undefined;
  const who = contact ?? peer;
  return (
    <Stack gap={4}>
      <dl className={styles.facts}>
        {who !== undefined && who !== '' && (
          <Fact term={t(kind === 'send' ? 'transfers.receiver' : 'transfers.sender')}>
            <PeerText text={who} />
            {contact !== undefined && verified !== undefined && (
              <> · {t(verified ? 'transfers.verified' : 'transfers.notVerified')}</>
            )}
            {contact === undefined && <> · {t('transfers.claimed')}</>}
          </Fact>
        )}
        {path !== undefined && <Fact term={t('transfers.path')}>{pathText(path, t)}</Fact>}
        {suite !== undefined && <Fact term={t('transfers.suite')}>{suite}</Fact>}
        {place !== undefined && (
          <Fact term={t('transfers.place')}>
            <PlaceText path={place} />
          </Fact>
        )}
        <Fact term={t('transfers.added')}>{momentText(added, Date.now(), language)}</Fact>
        {transfer.failed > 0 && (
          <Fact term={t('transfers.failedFiles')}>{t('transfers.fileCount', { count: transfer.failed })}</Fact>
        )}
        {incognito && <Fact term={t('transfers.incognito')}>{t('transfers.incognitoOn')}</Fact>}
      </dl>
      {tried.length > 0 && <Tried ways={tried} connected={path !== undefined} />}
      {transfer.reachability && <Reachable of={transfer.reachability} />}
    </Stack>
  );
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** The connection attempts, which explain why no better path is used. */
function Tried({ ways, connected }: { ways: readonly WayView[]; connected: boolean }) {
  const { t } = useTexts();
  return (
    <Disclosure title={t(connected ? 'transfers.whyPath' : 'transfers.whyNone')} open={!connected}>
      <Stack as="ul" gap={2}>
        {ways.map(({ transport, address, code, reason }) => (
          <li key={`${transport} ${address} ${code}`} className={styles.way}>
            {pathText(transport, t)}
            <span>
              <PeerText text={address} /> · {errorText(t, { code, message: reason })}
            </span>
            <span>
              <PeerText text={reason} />
            </span>
          </li>
        ))}
      </Stack>
    </Disclosure>
  );
}

/** Ways in which peers with the code can reach this computer. */
function Reachable({ of }: { of: NonNullable<TransferView['reachability']> }) {
  const { t } = useTexts();
  const { listen, rendezvous, rendezvousAddress, rendezvousReason, relay, mapping, mappingAddress, mappingReason } = of;
  return (
    <Disclosure title={t('transfers.reach')}>
      <Stack as="ul" gap={2}>
        {listen !== undefined && (
          <li className={styles.way}>
            {t('transfers.reachNear')}
            <span>{listen}</span>
          </li>
        )}
        {rendezvous !== undefined && (
          <li className={styles.way}>
            {t(rendezvous === 'open' ? 'transfers.reachMeeting' : 'transfers.reachMeetingLost')}
            <span>
              {rendezvousAddress}
              {rendezvous === 'open' && relay && ` · ${t('transfers.reachRelay')}`}
              {rendezvous !== 'open' && rendezvousReason && ` · ${rendezvousReason}`}
            </span>
          </li>
        )}
        {mapping !== undefined && (
          <li className={styles.way}>
            {t(mapping === 'open' ? 'transfers.reachMapped' : 'transfers.reachNotMapped')}
            <span>{mapping === 'open' ? mappingAddress : mappingReason}</span>
          </li>
        )}
      </Stack>
    </Disclosure>
  );
}
