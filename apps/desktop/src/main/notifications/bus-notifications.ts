// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Message as BusMessage, MessageBus } from '@particle/dbus-next';

const SERVICE = 'org.freedesktop.Notifications';
const AT = { destination: SERVICE, interface: SERVICE, path: '/org/freedesktop/Notifications' };
const BUS = 'org.freedesktop.DBus';
const SIGNALS = `type='signal',interface='${SERVICE}',path='${AT.path}'`;
/** A desktop may start its notification service for the first call. */
const ANSWER_MS = 5000;
/** Action of a click on the notification outside its buttons. */
const DEFAULT = 'default';
/** Signals kept while a notification has no number yet. */
const MAX_EARLY = 64;
/** Lets the desktop choose when the notification disappears. */
const USUAL_TIME = -1;

/** A notification with buttons. */
export interface BusNotice {
  readonly title: string;
  readonly text: string;
  /** Labels by the name that `onPress` receives. */
  readonly buttons: Readonly<Record<string, string>>;
  onPress(button: string): void;
  /** Called when the notification was clicked outside its buttons. */
  onOpen(): void;
}

/**
 * Notifications with buttons on a Linux desktop, over D-Bus: Electron does not show buttons there.
 * See the Desktop Notifications Specification (freedesktop.org).
 */
export class BusNotifications {
  readonly #bus: MessageBus;
  readonly #makeMessage: (about: Partial<BusMessage>) => BusMessage;
  readonly #shown = new Map<number, BusNotice>();
  readonly #waiting = new Set<(reason: Error) => void>();
  /** Calls of Notify without a reply, and signals of unknown numbers that arrived meanwhile. */
  #notifying = 0;
  #early: BusMessage[] = [];
  #lost = false;

  /** @returns  undefined without a session bus, or if its notification service shows no buttons */
  static async open(env: NodeJS.ProcessEnv): Promise<BusNotifications | undefined> {
    const busAddress = addressIn(env);
    if (busAddress === undefined) return undefined;
    const { Message, sessionBus } = await import('@particle/dbus-next');
    const bus = sessionBus({ busAddress });
    const opened = new BusNotifications(bus, (about) => new Message(about));
    try {
      const [abilities] = await opened.#call({ ...AT, member: 'GetCapabilities' });
      if (!Array.isArray(abilities) || !abilities.includes('actions')) throw new Error('The desktop shows no buttons.');
      await opened.#call({
        destination: BUS,
        interface: BUS,
        path: '/org/freedesktop/DBus',
        member: 'AddMatch',
        signature: 's',
        body: [SIGNALS],
      });
      return opened;
    } catch {
      opened.close();
      return undefined;
    }
  }

  private constructor(bus: MessageBus, makeMessage: (about: Partial<BusMessage>) => BusMessage) {
    this.#bus = bus;
    this.#makeMessage = makeMessage;
    bus.on('error', () => this.close());
    bus.on('message', (message: BusMessage) => this.#onSignal(message));
  }

  /** The connection is gone; open a new one. */
  get lost(): boolean {
    return this.#lost;
  }

  /** @returns  the number that `take` needs @throws if the desktop does not show the notification */
  async show(notice: BusNotice): Promise<number> {
    const { title, text, buttons } = notice;
    const actions = [DEFAULT, title, ...Object.entries(buttons).flat()];
    const body = ['KeibiDrop', 0, 'keibidrop', title, text, actions, {}, USUAL_TIME];
    this.#notifying++;
    try {
      const [id] = await this.#call({ ...AT, member: 'Notify', signature: 'susssasa{sv}i', body });
      if (typeof id !== 'number') throw new Error('The desktop returned no notification number.');
      this.#shown.set(id, notice);
      for (const signal of this.#early) if (signal.body[0] === id) this.#onSignal(signal);
      return id;
    } finally {
      if (--this.#notifying === 0) this.#early = [];
    }
  }

  /** Withdraws a notification. */
  take(id: number): void {
    if (!this.#shown.delete(id)) return;
    this.#call({ ...AT, member: 'CloseNotification', signature: 'u', body: [id] }).catch(() => {});
  }

  close(): void {
    // Closing a broken connection reports a second error.
    if (this.#lost) return;
    this.#lost = true;
    for (const fail of this.#waiting) fail(new Error('The connection to the desktop is lost.'));
    this.#bus.disconnect();
  }

  #onSignal(signal: BusMessage): void {
    const { interface: from, member, body } = signal;
    if (from !== SERVICE) return;
    const [id, button] = body as [number, string];
    const notice = this.#shown.get(id);
    if (notice === undefined) {
      // A press can arrive together with the number of its notification.
      if (this.#notifying > 0 && this.#early.length < MAX_EARLY) this.#early.push(signal);
      return;
    }
    if (member === 'NotificationClosed') this.#shown.delete(id);
    else if (member === 'ActionInvoked' && button === DEFAULT) notice.onOpen();
    else if (member === 'ActionInvoked' && Object.keys(notice.buttons).includes(button)) notice.onPress(button);
  }

  async #call(about: Partial<BusMessage>): Promise<readonly unknown[]> {
    if (this.#lost) throw new Error('The connection to the desktop is lost.');
    let fail = (_reason: Error) => {};
    const failed = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    this.#waiting.add(fail);
    // Close a bus that does not answer; the next notification opens a new connection.
    const timer = setTimeout(() => this.close(), ANSWER_MS);
    try {
      const reply = await Promise.race([this.#bus.call(this.#makeMessage(about)), failed]);
      return (reply as BusMessage | null)?.body ?? [];
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(fail);
    }
  }
}

/** Address of the session bus. Does not start a bus. */
function addressIn({
  DBUS_SESSION_BUS_ADDRESS: named,
  XDG_RUNTIME_DIR: runtime,
}: NodeJS.ProcessEnv): string | undefined {
  if (named) return named;
  const usual = runtime && join(runtime, 'bus');
  return usual && existsSync(usual) ? `unix:path=${usual}` : undefined;
}
