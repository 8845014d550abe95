// SPDX-License-Identifier: MPL-2.0
import type { HistoryEntryView } from '@keibidrop/daemon/local';
import { ArrowDownLeft, ArrowUpRight, FolderOpen, RotateCw } from 'lucide-react';
import { bytesText, rateText } from '../../../shared/number-text.ts';
import { useApi } from '../../api/api-context.ts';
import { harmless, PeerText } from '../../components/content/peer-text.tsx';
import { Button } from '../../components/controls/button.tsx';
import { ErrorText } from '../../components/feedback/error-text.tsx';
import { Row } from '../../components/layout/row-list.tsx';
import { go } from '../../store/route.ts';
import { useAction } from '../../store/use-action.ts';
import { errorWords } from '../../texts/errors.ts';
import { type TextKey, type Translate, useTexts } from '../../texts/texts.ts';
import { timeText } from '../../texts/times.ts';
import styles from './history.module.css';
import { isText, pathToSendAgain } from './history-list.ts';

/** A rate over a shorter time means nothing. */
const MEASURABLE_SECONDS = 0.5;

/** One finished send or receive: names, peer, result and actions. */
export function HistoryRow({ entry }: { entry: HistoryEntryView }) {
  const { t, language } = useTexts();
  const { act, busy, error } = useAction();
  const { kind, time, result } = entry;
  const good = result === 'OK';
  const Mark = kind === 'send' ? ArrowUpRight : ArrowDownLeft;
  return (
    <Row
      mark={
        <span className={styles.mark} data-good={good}>
          <Mark size={20} aria-hidden="true" />
          <span className="spoken">{t(kind === 'send' ? 'history.sentMark' : 'history.receivedMark')}</span>
        </span>
      }
      name={
        <>
          <span className={styles.what}>
            <What entry={entry} />
          </span>
          <time className={styles.time} dateTime={time}>
            {timeText(Date.parse(time), language)}
          </time>
        </>
      }
      about={good ? <Figures entry={entry} /> : <Failure entry={entry} />}
      actions={<Actions entry={entry} busy={busy} onAct={(work) => void act(work)} />}
    >
      {error !== undefined && (
        <p role="alert" className={styles.error}>
          <ErrorText error={error} />
        </p>
      )}
    </Row>
  );
}

function What({ entry }: { entry: HistoryEntryView }) {
  const { t } = useTexts();
  if (entry.what === '') return t('history.nothing');
  return isText(entry) ? t('history.text') : <PeerText text={entry.what} />;
}

function Peer({ entry: { with: peer, kind } }: { entry: HistoryEntryView }) {
  const { t } = useTexts();
  if (peer === '') return null;
  return <bdi>{t(kind === 'send' ? 'history.to' : 'history.from', { peer: harmless(peer) })}</bdi>;
}

function Figures({ entry }: { entry: HistoryEntryView }) {
  const { t, language } = useTexts();
  const { files, bytes, seconds, bytesPerSecond, path } = entry;
  const way = path === undefined ? undefined : wayText(t, path);
  return (
    <>
      <Peer entry={entry} />
      {files > 1 && <span>{t('history.files', { count: files })}</span>}
      <span>{bytesText(bytes, language)}</span>
      {seconds >= MEASURABLE_SECONDS && <span>{rateText(bytesPerSecond, language)}</span>}
      {way !== undefined && <span>{way}</span>}
    </>
  );
}

/** A cancelled or declined transfer is shown as a decision, not as a failure. */
function Failure({ entry }: { entry: HistoryEntryView }) {
  const { t } = useTexts();
  const { result } = entry;
  if (result === 'CANCELLED' || result === 'OFFER_DECLINED') {
    return (
      <>
        <Peer entry={entry} />
        <span>{t(result === 'CANCELLED' ? 'history.cancelled' : 'history.declined')}</span>
      </>
    );
  }
  return (
    <>
      <Peer entry={entry} />
      <span className={styles.failed}>{t('history.failed')}</span>
      <span>{errorWords(t, { code: result, message: result }).text}</span>
    </>
  );
}

interface ActionsProps {
  entry: HistoryEntryView;
  busy: boolean;
  onAct(work: (signal: AbortSignal) => Promise<unknown>): void;
}

function Actions({ entry, busy, onAct }: ActionsProps) {
  const { t } = useTexts();
  const api = useApi();
  const { place, result, kind, contact, with: peer } = entry;
  const what = harmless(entry.what);
  const path = pathToSendAgain(entry);
  const open = () => (api.shell ? api.shell.reveal(place) : api.call('openPlace', { path: place }));
  const sendAgain = async (paths: string[]) => {
    const { transfer } = await api.call('send', { paths, to: contact ? [peer] : [] });
    go('transfers', transfer?.id);
  };
  return (
    <>
      {path !== undefined && (
        <Button look="quiet" icon={RotateCw} iconOnly busy={busy} onClick={() => onAct(() => sendAgain([path]))}>
          {t('history.sendAgainOf', { what })}
        </Button>
      )}
      {place !== '' && !isText(entry) && (result === 'OK' || kind === 'send') && (
        <Button look="quiet" icon={FolderOpen} iconOnly busy={busy} onClick={() => onAct(open)}>
          {t('history.openFolderOf', { what })}
        </Button>
      )}
    </>
  );
}

/** Undefined for a path that this version does not know. */
function wayText(t: Translate, path: string): string | undefined {
  const ways: Readonly<Record<string, TextKey>> = {
    local: 'history.way.local',
    lan: 'history.way.lan',
    direct: 'history.way.direct',
    mapped: 'history.way.mapped',
    punched: 'history.way.punched',
    relay: 'history.way.relay',
  };
  const key = ways[path];
  return key && t(key);
}
