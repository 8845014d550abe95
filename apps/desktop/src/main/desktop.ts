// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app, nativeTheme, session, shell } from 'electron';
import type { Intent, View } from '../shared/api.ts';
import type { DaemonState } from '../shared/daemon-state.ts';
import { activityOf } from './activity.ts';
import { setAppMenu } from './app-menu.ts';
import { DaemonLink } from './daemon-link.ts';
import { daemonProgram, openDoorOf } from './daemon-program.ts';
import { Dialogs } from './dialogs.ts';
import { type Handlers, hearPage } from './ipc.ts';
import { KeptFile } from './kept-file.ts';
import { lockSession } from './lockdown.ts';
import { type Notice, noticeOf } from './notices.ts';
import { Notifier } from './notifier.ts';
import { intentOfLink, type Opening, openingOf } from './opening.ts';
import { PageCalls } from './page-calls.ts';
import { WindowPreferences } from './preferences.ts';
import { QuickSend } from './quick-send.ts';
import { Quitting } from './quitting.ts';
import { servePage } from './serve-page.ts';
import { startAtLogin } from './start-at-login.ts';
import { type Texts, textsIn } from './texts.ts';
import { TrayEntry } from './tray.ts';
import { MainWindow } from './window.ts';

/** A window that crashes again within this time is not reopened automatically. */
const BREAKS_AGAIN_MS = 60_000;

/** The main process once Electron is ready: creates the parts and connects them. */
export class Desktop {
  readonly #kept = new KeptFile(join(app.getPath('userData'), 'window.json'));
  readonly #link: DaemonLink;
  readonly #window: MainWindow;
  readonly #preferences: WindowPreferences;
  readonly #dialogs: Dialogs;
  readonly #calls: PageCalls;
  readonly #quickSend: QuickSend;
  readonly #notifier: Notifier;
  readonly #quitting: Quitting;
  readonly #tray: TrayEntry;
  #texts: Texts;
  #broke = 0;

  /** @param started  when this program began, in milliseconds since 1970 */
  constructor(started: number) {
    const program = daemonProgram(app.isPackaged ? process.resourcesPath : undefined, process.platform);
    this.#link = new DaemonLink((signal) => openDoorOf(program, process.env, signal));
    this.#preferences = new WindowPreferences(this.#kept, startAtLogin(), () => this.#speak());
    this.#texts = textsIn(this.#preferences.language);
    const texts = () => this.#texts;
    this.#window = new MainWindow({
      kept: this.#kept,
      onClose: () => this.#onClose(),
      onPageGone: () => this.#calls.forget(),
      onCrash: () => void this.#onCrash(),
    });
    const tell = (intent: Intent) => this.#window.tell(intent);
    this.#dialogs = new Dialogs(() => this.#window.visible, texts);
    this.#calls = new PageCalls(this.#link, (channel, value) => this.#window.send(channel, value));
    const answer = (question: number, given: 'yes' | 'no') => void this.#answer(question, given);
    this.#notifier = new Notifier({ texts, tell, answer });
    const notify = (notice: Notice) => this.#notifier.show(notice);
    this.#quickSend = new QuickSend({ link: this.#link, dialogs: this.#dialogs, texts, notify, tell });
    this.#quitting = new Quitting({
      link: this.#link,
      dialogs: this.#dialogs,
      started,
      texts,
      hide: () => this.#window.visible?.hide(),
      close: () => this.#close(),
    });
    this.#tray = new TrayEntry(this.#actions);
  }

  /** Shows the window at once and connects to the daemon meanwhile. */
  open(opening: Opening): void {
    servePage(join(__dirname, 'renderer'));
    lockSession(session.defaultSession);
    hearPage(() => this.#window.page, this.#handlers, {
      onSubscribe: (subscription) => void this.#calls.subscribe(subscription),
      onUnsubscribe: (id) => this.#calls.unsubscribe(id),
      onListening: () => this.#window.onListening(),
    });
    this.#quitting.listen();
    this.#link.on('change', () => this.#draw());
    this.#link.on('told', (told, before) => this.#onTold(told, before));
    nativeTheme.on('updated', () => this.#draw());
    this.#link.open();
    this.#speak();
    if (opening.hidden && opening.intents.length === 0) return;
    this.#window.show();
    for (const intent of opening.intents) this.#window.tell(intent);
  }

  /** The program was started again, or a file or link was opened with it. */
  reopen({ intents }: Opening): void {
    this.#link.restart();
    this.#window.show();
    for (const intent of intents) this.#window.tell(intent);
  }

  openPath(path: string): void {
    this.reopen(openingOf([path], '/', existsSync));
  }

  openLink(link: string): void {
    const intent = intentOfLink(link);
    this.reopen({ intents: intent === undefined ? [] : [intent], hidden: false });
  }

  get #actions() {
    return {
      sendFiles: (what: 'files' | 'folders', to: string | undefined) => void this.#quickSend.files(what, to),
      sendClipboard: (to: string | undefined) => void this.#quickSend.clipboard(to),
      pauseAll: (paused: boolean) => void this.#pauseAll(paused),
      show: (view?: View, transfer?: number) => {
        if (view === undefined) this.#window.show();
        else this.#window.tell({ kind: 'view', view, ...(transfer !== undefined && { transfer }) });
      },
      restart: () => this.#link.restart(),
      close: () => this.#window.visible?.close(),
      quit: () => void this.#quitting.ask(),
    };
  }

  get #handlers(): Handlers {
    return {
      ...this.#calls.handlers,
      'shell.pick': ({ what }) => this.#dialogs.pick(what),
      'shell.pickFolder': ({ start }) => this.#dialogs.pickFolder(start),
      'shell.reveal': ({ path }) => {
        shell.showItemInFolder(path);
        return null;
      },
      'shell.restartDaemon': () => {
        this.#link.restart();
        return null;
      },
      'shell.preferences': () => this.#preferences.all,
      'shell.changePreferences': (changes) => this.#preferences.change(changes),
    };
  }

  /** Applies the preferred language to the menus. */
  #speak(): void {
    this.#texts = textsIn(this.#preferences.language);
    setAppMenu(this.#texts, this.#actions);
    this.#draw();
  }

  #draw(): void {
    const { state } = this.#link;
    const { share, questions } = activityOf(state);
    this.#tray.show(state, this.#texts);
    this.#window.showProgress(state.link.state === 'live' ? share : undefined);
    app.setBadgeCount(questions);
  }

  #onTold(told: Parameters<typeof noticeOf>[0], before: DaemonState): void {
    if (told.event === 'answered') this.#notifier.answered(told.question);
    // A user who looks at the window sees the event there.
    if (this.#window.isLookedAt) return;
    const notice = noticeOf(told, before.transfers.get(told.transfer)?.state, this.#texts);
    if (notice !== undefined) this.#notifier.show(notice);
  }

  #onClose(): boolean {
    if (this.#quitting.decided) return true;
    const { closeToTray, toldOfTray } = this.#kept.kept;
    if (!closeToTray) {
      void this.#quitting.ask();
      return false;
    }
    if (!toldOfTray) {
      const { t } = this.#texts;
      this.#notifier.show({
        title: t('notice.tray'),
        text: t('notice.trayText'),
        intent: { kind: 'view', view: 'send' },
      });
      this.#kept.change({ toldOfTray: true });
    }
    return false;
  }

  async #onCrash(): Promise<void> {
    const again = Date.now() - this.#broke < BREAKS_AGAIN_MS;
    this.#broke = Date.now();
    this.#window.destroy();
    if (again) {
      const { t } = this.#texts;
      const buttons = [t('crash.reopen'), t('crash.quit')];
      const options = { type: 'error', message: t('crash.title'), detail: t('crash.text'), buttons } as const;
      if ((await this.#dialogs.ask({ ...options, buttons, defaultId: 0, cancelId: 1 })) === 1) return app.quit();
    }
    this.#window.show();
  }

  async #answer(question: number, answer: 'yes' | 'no'): Promise<void> {
    await this.#ask((door, signal) => door.call('answer', { question, answer }, { signal }));
  }

  async #pauseAll(paused: boolean): Promise<void> {
    const action = paused ? 'pause' : 'resume';
    await this.#ask((door, signal) => door.call('control', { transfer: 0, action }, { signal }));
  }

  async #ask(call: (door: Awaited<ReturnType<DaemonLink['door']>>, signal: AbortSignal) => Promise<unknown>) {
    try {
      await call(await this.#link.door(), new AbortController().signal);
    } catch (reason) {
      await this.#dialogs.tellFailure(reason instanceof Error ? reason.message : String(reason));
    }
  }

  async #close(): Promise<void> {
    this.#window.destroy();
    this.#tray.destroy();
    await this.#link.close();
  }
}
