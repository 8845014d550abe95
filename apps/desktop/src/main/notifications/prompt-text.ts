// SPDX-License-Identifier: MPL-2.0
import type { Asked } from '../../shared/daemon-state.ts';
import { bytesText } from '../../shared/number-text.ts';
import type { Texts } from '../texts.ts';
import { plainText } from './plain-text.ts';

/** The question in one line. */
export function promptTitle({ kind, about }: Asked, texts: Texts): string {
  const { t } = texts;
  if (kind === 'collision') return t('question.collision', { file: wordsOf(about.file) });
  if (kind === 'invitation') {
    const peer = wordsOf(about.contact) || t('question.unnamed');
    if (about.to === 'text') return t('question.invitationText', { peer });
    return t(about.to === 'files' ? 'question.invitationFiles' : 'question.invitationShare', { peer });
  }
  const peer = wordsOf(about.peer) || t('question.unnamed');
  if (about.text === true) return t('question.offerText', { peer });
  return t('question.offer', { peer, what: amountOf(about, texts) });
}

/** Whether the question takes yes or no, so that two buttons suffice. */
export function isYesOrNo({ kind }: Asked): boolean {
  return kind === 'offer' || kind === 'invitation';
}

/** The first names of an offer, with `…` if there are more. */
export function namesOf({ about }: Asked): string {
  const { names, nameCount } = about;
  if (!Array.isArray(names)) return '';
  const shown = names.slice(0, 3).map(wordsOf);
  return `${shown.join(', ')}${typeof nameCount === 'number' && nameCount > shown.length ? ' …' : ''}`;
}

function amountOf({ files, bytes, stream }: Asked['about'], { t, language }: Texts): string {
  const count = typeof files === 'number' ? files : 0;
  if (stream === true || typeof bytes !== 'number') return t('question.files', { count });
  return t('question.filesSize', { count, size: bytesText(bytes, language) });
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? plainText(value, 40) : '';
}
