// SPDX-License-Identifier: MPL-2.0
import { app, powerMonitor } from 'electron';
import { ApiError } from '../shared/api.ts';
import type { DaemonLink } from './daemon/daemon-link.ts';
import type { Dialogs } from './dialogs.ts';
import type { Texts } from './texts.ts';
import { activityOf } from './tray/activity.ts';

const STOP_TIMEOUT_MS = 5000;
const BUTTONS = ['quit.keep', 'quit.quit', 'quit.cancel'] as const;

export interface QuittingParts {
  readonly link: DaemonLink;
  readonly dialogs: Dialogs;
  /** When this program began, in milliseconds since 1970. */
  readonly started: number;
  texts(): Texts;
  /** Hides the window; the tray stays. */
  hide(): void;
  /** Closes everything of this program. */
  close(): Promise<void>;
}

/** Ends the program in order: asks before it interrupts transfers or shares. */
export class Quitting {
  readonly #parts: QuittingParts;
  #asking = false;
  #decided = false;

  constructor(parts: QuittingParts) {
    this.#parts = parts;
  }

  /** The program is ending, so nothing may keep a window open. */
  get decided(): boolean {
    return this.#decided;
  }

  /** Routes every way to quit through `ask`. */
  listen(): void {
    app.on('before-quit', (event) => {
      if (this.#decided) return;
      event.preventDefault();
      void this.ask();
    });
    // The system is shutting down: a dialog would delay it. The daemon gets its own signal.
    powerMonitor.on('shutdown', () => void this.#end({ stopDaemon: false }));
  }

  /** Asks if something is under way, and does what the user chose. */
  async ask(): Promise<void> {
    if (this.#asking || this.#decided) return;
    this.#asking = true;
    try {
      const chosen = await this.#choice();
      if (chosen === 'quit.quit') await this.#end({ stopDaemon: true });
      else if (chosen === 'quit.keep') this.#parts.hide();
      else if (chosen === undefined) await this.#end({ stopDaemon: await this.#isOurs() });
    } finally {
      this.#asking = false;
    }
  }

  /** @returns  the chosen button; undefined: nothing to ask about */
  async #choice(): Promise<(typeof BUTTONS)[number] | undefined> {
    const { link, dialogs, texts } = this.#parts;
    const { underWay, shares } = activityOf(link.state);
    // A lost daemon has nothing to interrupt.
    if (link.state.link.state !== 'live' || underWay.length + shares === 0) return undefined;
    const { t } = texts();
    const sentences = [
      ...(underWay.length > 0 ? [t('quit.question', { count: underWay.length })] : []),
      ...(shares > 0 ? [t('quit.shares', { count: shares })] : []),
    ];
    const buttons = BUTTONS.map((key) => t(key));
    const options = { type: 'question', message: sentences.join(' '), detail: t('quit.detail'), buttons } as const;
    return BUTTONS[await dialogs.ask({ ...options, buttons, defaultId: 0, cancelId: 2, noLink: true })];
  }

  async #end({ stopDaemon }: { stopDaemon: boolean }): Promise<void> {
    if (this.#decided) return;
    this.#decided = true;
    if (stopDaemon) await this.#call('stop').catch(() => undefined);
    await this.#parts.close();
    app.exit(0);
  }

  /** Whether the daemon was started for this window and has no other clients. */
  async #isOurs(): Promise<boolean> {
    if (this.#parts.link.state.link.state !== 'live') return false;
    const status = await this.#call('status').catch(() => undefined);
    return status !== undefined && status.started >= this.#parts.started && status.clients === 0;
  }

  async #call<M extends 'stop' | 'status'>(method: M) {
    const over = new AbortController();
    const timer = setTimeout(
      () => over.abort(new ApiError('UNREACHABLE', 'The daemon does not answer.')),
      STOP_TIMEOUT_MS,
    );
    try {
      return await (await this.#parts.link.client()).call(method, {}, { signal: over.signal });
    } finally {
      clearTimeout(timer);
    }
  }
}
