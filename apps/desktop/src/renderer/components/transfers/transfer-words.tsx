// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import type { Language } from '../../../shared/languages.ts';
import { bytesText, clockText, countText } from '../../../shared/number-text.ts';
import { errorText } from '../../texts/errors.ts';
import type { TextKey, Translate } from '../../texts/texts.ts';
import { useTexts } from '../../texts/texts.ts';
import { harmless, PeerText } from '../content/peer-text.tsx';

/** Name of a transfer: the names of its files, which are a peer's words. */
export function TransferName({ transfer }: { transfer: Pick<TransferView, 'what' | 'kind' | 'isText'> }) {
  const { t } = useTexts();
  const { what, kind, isText } = transfer;
  if (isText) return <>{t('transfers.text')}</>;
  if (what === '') return <>{t(kind === 'send' ? 'transfers.aSend' : 'transfers.aReceive')}</>;
  return <PeerText text={what} />;
}

/** The same as a string. */
export function nameOf({ what, kind, isText }: Pick<TransferView, 'what' | 'kind' | 'isText'>, t: Translate): string {
  if (isText) return t('transfers.text');
  return what === '' ? t(kind === 'send' ? 'transfers.aSend' : 'transfers.aReceive') : harmless(what);
}

/** State of a transfer, as a sentence without a full stop. */
export function stateText(transfer: TransferView, t: Translate, language: Language): string {
  const { state, error } = transfer;
  switch (state) {
    case 'waiting':
      return waitingText(transfer, t);
    case 'running':
      return runningText(transfer, t, language);
    case 'paused':
      return t(transfer.pausedBy === 'peer' ? 'transfers.pausedByPeer' : 'transfers.paused');
    case 'done':
      return doneText(transfer, t, language);
    case 'failed':
      return error === undefined ? t('transfers.failed') : errorText(t, error);
    case 'queued':
    case 'asking':
    case 'cancelled':
      return t(`transfers.${state}`);
    default:
      return state;
  }
}

function waitingText({ kind, contact, reconnecting }: TransferView, t: Translate): string {
  if (reconnecting !== undefined) return t('transfers.reconnecting', { attempt: reconnecting.attempt });
  if (kind === 'receive') return t('transfers.lookingForSender');
  return contact === undefined ? t('transfers.waiting') : t('transfers.waitingFor', { name: harmless(contact) });
}

function runningText(transfer: TransferView, t: Translate, language: Language): string {
  const { bytes, totalBytes, totalFiles, totalsFinal } = transfer;
  if (totalBytes === 0) return t('transfers.beginning');
  const sizes = { done: bytesText(bytes, language), total: bytesText(totalBytes, language) };
  const of = t(totalsFinal ? 'transfers.ofSize' : 'transfers.ofSizeSoFar', sizes);
  return totalFiles > 1 ? `${filesOf(transfer, t, language)} · ${of}` : of;
}

function filesOf({ files, totalFiles }: TransferView, t: Translate, language: Language): string {
  return t('transfers.ofFiles', { done: countText(files, language), total: totalFiles });
}

function doneText({ files, bytes, seconds, skipped, isText }: TransferView, t: Translate, language: Language): string {
  if (isText) return t('transfers.done');
  const size = bytesText(bytes, language);
  const what = t('transfers.doneWith', { files, size });
  const took = seconds >= 1 ? `${what} ${t('transfers.within', { time: clockText(seconds) })}` : what;
  return skipped > 0 ? `${took} · ${t('transfers.skippedCount', { count: skipped })}` : took;
}

const PATHS: Readonly<Record<string, TextKey>> = {
  local: 'transfers.pathLocal',
  lan: 'transfers.pathLan',
  direct: 'transfers.pathDirect',
  mapped: 'transfers.pathMapped',
  punched: 'transfers.pathPunched',
  relay: 'transfers.pathRelay',
};

/** The connection path, for people. */
export function pathText(path: string, t: Translate): string {
  const key = PATHS[path];
  return key === undefined ? path : t(key);
}
