// SPDX-License-Identifier: MPL-2.0
import { Notification } from 'electron';
import type { Intent } from '../shared/api.ts';
import type { Notice } from './notices.ts';
import type { Texts } from './texts.ts';

const MOST_KEPT = 20;

export interface NotifierParts {
  texts(): Texts;
  tell(intent: Intent): void;
  /** Answers a question with yes or no. */
  answer(question: number, answer: 'yes' | 'no'): void;
}

/** Shows notices as the system's notifications. */
export class Notifier {
  readonly #parts: NotifierParts;
  /** What is shown: one that nobody keeps loses its click. By its question, where it has one. */
  readonly #shown = new Map<Notification, number | undefined>();

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  show({ title, text, intent, question }: Notice): void {
    if (!Notification.isSupported()) return;
    const { texts, tell, answer } = this.#parts;
    const { t } = texts();
    const buttons = [t('notice.accept'), t('notice.refuse')];
    const actions = question === undefined ? [] : buttons.map((label) => ({ type: 'button' as const, text: label }));
    const notification = new Notification({ title, body: text, actions });
    this.#shown.set(notification, question);
    notification.on('click', () => tell(intent));
    notification.on('action', (_event, index) => {
      if (question !== undefined) answer(question, index === 0 ? 'yes' : 'no');
    });
    notification.on('close', () => this.#shown.delete(notification));
    notification.show();
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MOST_KEPT && oldest !== undefined) this.#shown.delete(oldest);
  }

  /** Takes back what asks a question that has its answer. */
  answered(question: unknown): void {
    for (const [notification, asked] of this.#shown) {
      if (asked === undefined || asked !== question) continue;
      this.#shown.delete(notification);
      notification.close();
    }
  }
}
