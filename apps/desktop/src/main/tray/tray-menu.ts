// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import type { MenuItemConstructorOptions as Item } from 'electron';
import type { View } from '../../shared/api.ts';
import { type DaemonState, placeOfQuestion, wasStopped } from '../../shared/daemon-state.ts';
import { percentText } from '../../shared/number-text.ts';
import { menuText } from '../notifications/plain-text.ts';
import { promptTitle } from '../notifications/prompt-text.ts';
import type { TextKey, Texts } from '../texts.ts';
import { activityOf, doneOf, recentPeople } from './activity.ts';

const MOST_SHOWN = 5;

/** Actions of the tray's menu. */
export interface TrayActions {
  /** @param to  name of a contact; undefined: send with a code */
  sendFiles(what: 'files' | 'folders', to: string | undefined): void;
  sendClipboard(to: string | undefined): void;
  pauseAll(paused: boolean): void;
  /** Starts a daemon that the user had stopped. */
  restart(): void;
  show(view?: View, transfer?: number): void;
  quit(): void;
}

/** The tray's menu: running transfers, pending questions, quick send. */
export function trayMenu(state: DaemonState, texts: Texts, actions: TrayActions): Item[] {
  const { t } = texts;
  const live = state.link.state === 'live';
  const { underWay, paused } = activityOf(state);
  const quick = (key: TextKey, send: (to: string | undefined) => void): Item => ({
    label: t(key),
    enabled: live,
    submenu: peopleOf(state, texts, send),
  });
  return [
    { label: headOf(state, texts), enabled: false },
    ...(wasStopped(state.link) ? [{ label: t('tray.restart'), click: () => actions.restart() }] : []),
    ...(live ? [...questionsOf(state, texts, actions), ...running([...underWay, ...paused], texts, actions)] : []),
    { type: 'separator' },
    quick('tray.sendFiles', (to) => actions.sendFiles('files', to)),
    quick('tray.sendFolder', (to) => actions.sendFiles('folders', to)),
    quick('tray.sendClipboard', (to) => actions.sendClipboard(to)),
    { label: t('tray.receive'), click: () => actions.show('receive') },
    { type: 'separator' },
    { label: t('tray.pauseAll'), enabled: live && underWay.length > 0, click: () => actions.pauseAll(true) },
    { label: t('tray.resumeAll'), enabled: live && paused.length > 0, click: () => actions.pauseAll(false) },
    { type: 'separator' },
    { label: t('tray.open'), click: () => actions.show() },
    { label: t('tray.quit'), click: () => actions.quit() },
  ];
}

/** One-line status: first line of the menu and tooltip of the tray. */
export function headOf(state: DaemonState, { t, language }: Texts): string {
  if (wasStopped(state.link)) return t('tray.stopped');
  if (state.link.state !== 'live') return t(state.link.state === 'lost' ? 'tray.lost' : 'tray.connecting');
  const { underWay, share } = activityOf(state);
  if (underWay.length === 0) return t('tray.idle');
  const text = t('tray.running', { count: underWay.length });
  return typeof share === 'number' ? t('tray.share', { text, share: percentText(share, language) }) : text;
}

function peopleOf(state: DaemonState, { t }: Texts, send: (to: string | undefined) => void): Item[] {
  const people = recentPeople(state).map(({ name, online }): Item => {
    const label = menuText(name);
    return { label: online ? label : t('tray.away', { name: label }), click: () => send(name) };
  });
  const withCode: Item = { label: t('tray.withCode'), click: () => send(undefined) };
  return people.length === 0 ? [withCode] : [...people, { type: 'separator' }, withCode];
}

function questionsOf({ questions }: DaemonState, texts: Texts, actions: TrayActions): Item[] {
  return questions.slice(0, MOST_SHOWN).map((question) => ({
    label: menuText(promptTitle(question, texts)),
    click: () => actions.show(placeOfQuestion(question)),
  }));
}

function running(transfers: readonly TransferView[], texts: Texts, actions: TrayActions): Item[] {
  const shown = transfers.slice(0, MOST_SHOWN).map(
    (transfer): Item => ({
      label: menuText(lineOf(transfer, texts)),
      click: () => actions.show('transfers', transfer.id),
    }),
  );
  const more = transfers.length - shown.length;
  if (more === 0) return shown;
  return [...shown, { label: texts.t('tray.moreRunning', { count: more }), click: () => actions.show('transfers') }];
}

function lineOf(transfer: TransferView, { t, language }: Texts): string {
  const { kind, state } = transfer;
  const what = transfer.what || t('tray.something');
  const peer = transfer.contact ?? transfer.peer;
  const [alone, together] =
    kind === 'send'
      ? (['tray.sending', 'tray.sendingTo'] as const)
      : (['tray.receiving', 'tray.receivingFrom'] as const);
  const text = peer ? t(together, { what, peer }) : t(alone, { what });
  if (state === 'paused') return t('tray.paused', { text });
  if (state !== 'running') return t('tray.waiting', { text });
  const done = doneOf(transfer);
  return done === undefined ? text : t('tray.share', { text, share: percentText(done, language) });
}
