// SPDX-License-Identifier: MPL-2.0
import { Notification } from 'electron';
import type { Intent } from '../../shared/api.ts';
import type { Texts } from '../texts.ts';
import { BusNotifications } from './bus-notifications.ts';
import type { Notice } from './notices.ts';

const MOST_KEPT = 20;

export interface NotifierParts {
  texts(): Texts;
  openIntent(intent: Intent): void;
  /** Answers a yes-or-no question. */
  answer(question: number, answer: 'yes' | 'no'): void;
}

/** Shows notices as system notifications. */
export class Notifier {
  readonly #parts: NotifierParts;
  /** Notifications on screen, with their question if they have one. StoredPreferences because a collected one loses its click. */
  readonly #shown = new Map<Notification, number | undefined>();
  /** By question: withdraws the notification that the bus shows or is about to show. */
  readonly #asked = new Map<number, () => void>();
  #bus: Promise<BusNotifications | undefined> | undefined;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Shows a notice. Where the desktop has no buttons, a click on a question opens the window. */
  show(notice: Notice): void {
    const { question } = notice;
    if (question === undefined || process.platform !== 'linux') {
      this.#showByElectron(notice, question !== undefined);
      return;
    }
    this.#asked.set(question, () => {});
    this.#showByBus(notice, question).catch(() => {
      if (this.#asked.delete(question)) this.#showByElectron(notice, false);
    });
  }

  /** Withdraws the notification of a question that has been answered. */
  answered(question: number): void {
    this.#asked.get(question)?.();
    this.#asked.delete(question);
    for (const [notification, asked] of this.#shown) {
      if (asked === undefined || asked !== question) continue;
      this.#shown.delete(notification);
      notification.close();
    }
  }

  /** @throws if the desktop does not show buttons */
  async #showByBus({ title, text, intent }: Notice, question: number): Promise<void> {
    const { texts, openIntent, answer } = this.#parts;
    const { t } = texts();
    const bus = await this.#openBus();
    if (bus === undefined) throw new Error('The desktop shows no notifications with buttons.');
    const id = await bus.show({
      title,
      text,
      buttons: { yes: t('notice.accept'), no: t('notice.refuse') },
      onPress: (button) => answer(question, button === 'yes' ? 'yes' : 'no'),
      onOpen: () => openIntent(intent),
    });
    // The question may have been answered meanwhile.
    if (this.#asked.has(question)) this.#asked.set(question, () => bus.take(id));
    else bus.take(id);
  }

  async #openBus(): Promise<BusNotifications | undefined> {
    if ((await this.#bus)?.lost !== false) this.#bus = BusNotifications.open(process.env);
    return this.#bus;
  }

  #showByElectron({ title, text, intent, question }: Notice, withButtons: boolean): void {
    if (!Notification.isSupported()) return;
    const { texts, openIntent, answer } = this.#parts;
    const { t } = texts();
    const buttons = withButtons ? [t('notice.accept'), t('notice.refuse')] : [];
    const actions = buttons.map((label) => ({ type: 'button' as const, text: label }));
    const notification = new Notification({ title, body: text, actions });
    this.#shown.set(notification, question);
    notification.on('click', () => openIntent(intent));
    notification.on('action', (_event, index) => {
      if (question !== undefined) answer(question, index === 0 ? 'yes' : 'no');
    });
    notification.on('close', () => this.#shown.delete(notification));
    notification.show();
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MOST_KEPT && oldest !== undefined) this.#shown.delete(oldest);
  }
}
