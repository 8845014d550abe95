// SPDX-License-Identifier: MPL-2.0
import type { TransferView } from '@keibidrop/daemon/local';
import type { Intent } from '../../shared/api.ts';
import { askedBy, type ReportedEvent } from '../../shared/apply-event.ts';
import { type Asked, placeOfQuestion } from '../../shared/daemon-state.ts';
import type { Texts } from '../texts.ts';
import { noticeText } from './plain-text.ts';
import { isYesOrNo, namesOf, promptTitle } from './prompt-text.ts';

/** A notification for a user who is not looking at the window. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  /** The intent that a click opens. */
  readonly intent: Intent;
  /** Number of a question that takes yes or no. */
  readonly question?: number;
}

/**
 * The notice for an event of the daemon; undefined if the event needs none.
 *
 * @param before  state of the transfer before the event; undefined: the transfer is new
 */
export function noticeOf(reported: ReportedEvent, before: string | undefined, texts: Texts): Notice | undefined {
  const { happened } = reported;
  if (happened?.$case === 'question') return questionNotice(askedBy(happened.value), texts);
  if (happened?.$case === 'renewed') return renewedNotice(happened.value.name, texts);
  if (happened?.$case !== 'changed') return undefined;
  const transfer = happened.value;
  // A transfer that had already ended when the daemon sent its first events is no news.
  return before === undefined || before === transfer.state ? undefined : endNotice(transfer, texts);
}

function questionNotice(asked: Asked, texts: Texts): Notice {
  const text = asked.kind === 'collision' ? texts.t('question.collisionText') : namesOf(asked);
  return {
    title: noticeText(promptTitle(asked, texts)),
    text: noticeText(text || texts.t('question.click')),
    intent: { kind: 'view', view: placeOfQuestion(asked) },
    ...(isYesOrNo(asked) && { question: asked.question }),
  };
}

/** A contact has announced a new identity. */
function renewedNotice(name: string, { t }: Texts): Notice {
  return {
    title: noticeText(t('notice.renewed', { name })),
    text: noticeText(t('notice.renewedText', { name })),
    intent: { kind: 'view', view: 'people' },
  };
}

function endNotice(transfer: TransferView, { t }: Texts): Notice | undefined {
  const { kind, state, id, error } = transfer;
  const what = transfer.what || t('tray.something');
  const peer = transfer.contact ?? transfer.peer;
  const intent: Intent = { kind: 'view', view: 'transfers', transfer: id };
  const notice = (title: string, text: string): Notice => ({
    title: noticeText(title),
    text: noticeText(text),
    intent,
  });
  if (state === 'failed') {
    return notice(t(kind === 'send' ? 'notice.failedSend' : 'notice.failedReceive', { what }), error?.message ?? '');
  }
  if (state !== 'done') return undefined;
  if (kind === 'send') return notice(t('notice.sent', { what }), peer ? t('notice.to', { peer }) : '');
  const title = transfer.text === undefined ? t('notice.received', { what }) : t('notice.receivedText');
  return notice(title, peer ? t('notice.from', { peer }) : '');
}
