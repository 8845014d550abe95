// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app, nativeTheme, session, shell } from 'electron';
import type { Intent, View } from '../shared/api.ts';
import type { DaemonState } from '../shared/daemon-state.ts';
import { setAppMenu } from './app-menu.ts';
import { DaemonLink } from './daemon/daemon-link.ts';
import { daemonProgram, findDaemonAddress } from './daemon/daemon-program.ts';
import { Dialogs } from './dialogs.ts';
import { type Notice, noticeOf } from './notifications/notices.ts';
import { Notifier } from './notifications/notifier.ts';
import { intentOfLink, type Opening, openingOf } from './opening.ts';
import { type Handlers, hearPage } from './page/ipc.ts';
import { lockSession } from './page/lockdown.ts';
import { PageCalls } from './page/page-calls.ts';
import { servePage } from './page/serve-page.ts';
import { PreferencesFile } from './preferences/preferences-file.ts';
import { startAtLogin } from './preferences/start-at-login.ts';
import { WindowPreferences } from './preferences/window-preferences.ts';
import { QuickSend } from './quick-send.ts';
import { Quitting } from './quitting.ts';
import { type Texts, textsIn } from './texts.ts';
import { activityOf } from './tray/activity.ts';
import { TrayEntry } from './tray/tray.ts';
import { MainWindow } from './window.ts';

/** A window that crashes again within this time is not reopened automatically. */
const BREAKS_AGAIN_MS = 60_000;

/** The page lies in this bundle, or beside it in the npm package. */
function pageFolder(): string {
  const own = join(__dirname, 'renderer');
  return existsSync(own) ? own : join(__dirname, '..', 'page');
}

/** The main process once Electron is ready: creates the parts and connects them. */
export class Desktop {
  readonly #file = new PreferencesFile(join(app.getPath('userData'), 'window.json'));
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
    const program = daemonProgram(app.isPackaged ? process.resourcesPath : undefined, process.platform, process.env);
    this.#link = new DaemonLink((signal) => findDaemonAddress(program, process.env, signal));
    this.#preferences = new WindowPreferences(this.#file, startAtLogin(), () => this.#speak());
    this.#texts = textsIn(this.#preferences.language);
    const texts = () => this.#texts;
    this.#window = new MainWindow({
      file: this.#file,
      onClose: () => this.#onClose(),
      onPageGone: () => this.#calls.forget(),
      onCrash: () => void this.#onCrash(),
    });
    const openIntent = (intent: Intent) => this.#window.openIntent(intent);
    this.#dialogs = new Dialogs(() => this.#window.visible, texts);
    this.#calls = new PageCalls(this.#link, (channel, value) => this.#window.send(channel, value));
    const answer = (question: number, given: 'yes' | 'no') => void this.#answer(question, given);
    this.#notifier = new Notifier({ texts, openIntent, answer });
    const notify = (notice: Notice) => this.#notifier.show(notice);
    this.#quickSend = new QuickSend({ link: this.#link, dialogs: this.#dialogs, texts, notify, openIntent });
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
    servePage(pageFolder());
    lockSession(session.defaultSession);
    hearPage(() => this.#window.page, this.#handlers, {
      onSubscribe: (subscription) => void this.#calls.subscribe(subscription),
      onUnsubscribe: (id) => this.#calls.unsubscribe(id),
      onListening: () => this.#window.onListening(),
    });
    this.#quitting.listen();
    this.#link.on('change', () => this.#draw());
    this.#link.on('reported', (reported, before) => this.#onReported(reported, before));
    nativeTheme.on('updated', () => this.#draw());
    this.#link.open();
    this.#speak();
    if (opening.hidden && opening.intents.length === 0) return;
    this.#window.show();
    for (const intent of opening.intents) this.#window.openIntent(intent);
  }

  /** The program was started again, or a file or link was opened with it. */
  reopen({ intents }: Opening): void {
    this.#link.restart();
    this.#window.show();
    for (const intent of intents) this.#window.openIntent(intent);
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
        else this.#window.openIntent({ kind: 'view', view, ...(transfer !== undefined && { transfer }) });
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

  #onReported(reported: Parameters<typeof noticeOf>[0], before: DaemonState): void {
    const { happened } = reported;
    if (happened?.$case === 'answered') this.#notifier.answered(happened.value.question);
    // A user who looks at the window sees the event there.
    if (this.#window.isLookedAt) return;
    const notice = noticeOf(reported, before.transfers.get(reported.transfer)?.state, this.#texts);
    if (notice !== undefined) this.#notifier.show(notice);
  }

  #onClose(): boolean {
    if (this.#quitting.decided) return true;
    const { closeToTray, trayNoticeShown } = this.#file.stored;
    if (!closeToTray) {
      void this.#quitting.ask();
      return false;
    }
    if (!trayNoticeShown) {
      const { t } = this.#texts;
      this.#notifier.show({
        title: t('notice.tray'),
        text: t('notice.trayText'),
        intent: { kind: 'view', view: 'send' },
      });
      this.#file.change({ trayNoticeShown: true });
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
    await this.#ask((client, signal) => client.call('answer', { question, answer }, { signal }));
  }

  async #pauseAll(paused: boolean): Promise<void> {
    const action = paused ? 'pause' : 'resume';
    await this.#ask((client, signal) => client.call('control', { transfer: 0, action }, { signal }));
  }

  async #ask(call: (client: Awaited<ReturnType<DaemonLink['client']>>, signal: AbortSignal) => Promise<unknown>) {
    try {
      await call(await this.#link.client(), new AbortController().signal);
    } catch (reason) {
      await this.#dialogs.showFailure(reason instanceof Error ? reason.message : String(reason));
    }
  }

  async #close(): Promise<void> {
    this.#window.destroy();
    this.#tray.destroy();
    await this.#link.close();
  }
}
