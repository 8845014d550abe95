// SPDX-License-Identifier: MPL-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { interface as service, sessionBus } from '@particle/dbus-next';

/** A notification as the desktop was asked to show it. */
export interface ShownNotice {
  readonly id: number;
  readonly title: string;
  readonly text: string;
  /** Labels by key. */
  readonly buttons: Readonly<Record<string, string>>;
}

const SERVICE = 'org.freedesktop.Notifications';

/** The notification service of a Linux desktop, on a session bus, with the interface of the specification. */
class NotificationService extends service.Interface {
  readonly shown: ShownNotice[] = [];
  readonly closed: number[] = [];
  buttons = true;
  pressedAtOnce: string | undefined;

  GetCapabilities(): string[] {
    return this.buttons ? ['actions', 'body'] : ['body'];
  }

  Notify(_program: string, _replaces: number, _icon: string, title: string, text: string, actions: string[]): number {
    const pairs = actions.flatMap((key, i) => (i % 2 === 0 ? [[key, actions[i + 1] ?? '']] : []));
    const id = this.shown.length + 1;
    this.shown.push({ id, title, text, buttons: Object.fromEntries(pairs) });
    if (this.pressedAtOnce !== undefined) this.ActionInvoked(id, this.pressedAtOnce);
    return id;
  }

  CloseNotification(id: number): void {
    this.closed.push(id);
  }

  ActionInvoked(id: number, key: string): [number, string] {
    return [id, key];
  }
}

NotificationService.configureMembers({
  methods: {
    GetCapabilities: { inSignature: '', outSignature: 'as' },
    Notify: { inSignature: 'susssasa{sv}i', outSignature: 'u' },
    CloseNotification: { inSignature: 'u', outSignature: '' },
  },
  signals: { ActionInvoked: { signature: 'us' } },
});

/** A session bus for one test, with a notification service on it. */
export class OwnDesktop {
  /** DBUS_SESSION_BUS_ADDRESS */
  readonly address: string;
  readonly #service: NotificationService;
  readonly #close: () => void;

  static async open(): Promise<OwnDesktop> {
    const daemon = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [address] = (await once(createInterface(daemon.stdout), 'line')) as [string];
    const bus = sessionBus({ busAddress: address });
    const notifications = new NotificationService(SERVICE);
    bus.export('/org/freedesktop/Notifications', notifications);
    await bus.requestName(SERVICE, 0);
    return new OwnDesktop(address, notifications, () => {
      bus.disconnect();
      daemon.kill();
    });
  }

  private constructor(address: string, notifications: NotificationService, close: () => void) {
    this.address = address;
    this.#service = notifications;
    this.#close = close;
  }

  get shown(): readonly ShownNotice[] {
    return this.#service.shown;
  }

  /** Ids of the withdrawn notifications. */
  get closed(): readonly number[] {
    return this.#service.closed;
  }

  /** Whether the service announces support for buttons. */
  set showsButtons(buttons: boolean) {
    this.#service.buttons = buttons;
  }

  /** A button to press on each new notification, before the program has its number. */
  set pressesAtOnce(button: string | undefined) {
    this.#service.pressedAtOnce = button;
  }

  /** Presses a button of the newest notification of that title; `default` is a click beside the buttons. */
  press(title: string, button: string): void {
    const { id = 0 } = this.shown.filter((notice) => notice.title === title).at(-1) ?? {};
    this.#service.ActionInvoked(id, button);
  }

  close(): void {
    this.#close();
  }
}
