// SPDX-License-Identifier: MPL-2.0
import type { TransferPeerView, TransferView } from '@keibidrop/daemon/local';
import { bytesText, rateText } from '../../../shared/number-text.ts';
import { Avatar } from '../../components/content/avatar.tsx';
import { PeerText } from '../../components/content/peer-text.tsx';
import { ProgressBar } from '../../components/feedback/progress-bar.tsx';
import { Card } from '../../components/layout/card.tsx';
import { pathText } from '../../components/transfers/transfer-words.tsx';
import { errorText } from '../../texts/errors.ts';
import { type TextKey, useTexts } from '../../texts/texts.ts';
import styles from './transfers.module.css';

/** Each receiver of a send to several; nothing for a single receiver. */
export function TransferPeers({ transfer }: { transfer: TransferView }) {
  const { t } = useTexts();
  const { peers, kind, receivers } = transfer;
  if (kind !== 'send' || receivers === 1 || peers.length === 0) return null;
  return (
    <Card aria-label={t('transfers.receivers')}>
      <h2>{t('transfers.receivers')}</h2>
      <ul>
        {peers.map((peer) => (
          <li key={`${peer.session} ${peer.contact}`} className={styles.peer}>
            <Peer peer={peer} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

const STATES: Readonly<Record<string, TextKey>> = {
  connected: 'transfers.peerConnected',
  paused: 'transfers.peerPaused',
  lost: 'transfers.peerLost',
  done: 'transfers.peerDone',
  failed: 'transfers.failed',
};
const INVITATIONS: Readonly<Record<string, TextKey>> = {
  absent: 'transfers.inviteAbsent',
  invited: 'transfers.inviteSent',
  asked: 'transfers.inviteAsked',
  taken: 'transfers.inviteTaken',
};

function Peer({ peer }: { peer: TransferPeerView }) {
  const name = peer.contact ?? peer.peer ?? '';
  const share = peer.totalBytes > 0 ? Math.min(1, peer.bytes / peer.totalBytes) : peer.state === 'done' ? 1 : 0;
  return (
    <>
      <Avatar name={name} />
      <div>
        <PeerText text={name} />
        <p>
          <How peer={peer} />
        </p>
      </div>
      <ProgressBar label={name} share={share} still={peer.state !== 'connected'} />
    </>
  );
}

function How({ peer }: { peer: TransferPeerView }) {
  const { t, language } = useTexts();
  const { state, invitation, error, path, bytes, bytesPerSecond } = peer;
  if (error !== undefined) return <>{errorText(t, error)}</>;
  const key = state === 'inviting' ? INVITATIONS[invitation ?? ''] : STATES[state];
  const said = key === undefined ? state : t(key);
  if (state !== 'connected') return <>{bytes > 0 ? `${said} · ${bytesText(bytes, language)}` : said}</>;
  const parts = [bytesText(bytes, language), rateText(bytesPerSecond, language)];
  if (path !== undefined) parts.push(pathText(path, t));
  return <>{parts.join(' · ')}</>;
}
