// SPDX-License-Identifier: MPL-2.0
import { clipboard } from 'electron';
import type { Intent } from '../shared/api.ts';
import type { DaemonLink } from './daemon/daemon-link.ts';
import type { Dialogs } from './dialogs.ts';
import type { Notice } from './notifications/notices.ts';
import { noticeText } from './notifications/plain-text.ts';
import type { Texts } from './texts.ts';

export interface QuickSendParts {
  readonly link: DaemonLink;
  readonly dialogs: Dialogs;
  texts(): Texts;
  notify(notice: Notice): void;
  /** Shows the window with this intent. */
  openIntent(intent: Intent): void;
}

/** Sends from the tray or the menu without opening the window. */
export class QuickSend {
  readonly #parts: QuickSendParts;

  constructor(parts: QuickSendParts) {
    this.#parts = parts;
  }

  /** @param to  name of a contact; undefined: the page asks for the recipient */
  async files(what: 'files' | 'folders', to: string | undefined): Promise<void> {
    const paths = await this.#parts.dialogs.pick(what);
    if (paths.length === 0) return;
    if (to === undefined) this.#parts.openIntent({ kind: 'send', paths });
    else await this.#send({ paths, to: [to] }, to);
  }

  /** @param to  name of a contact; undefined: send with a code, which the page shows */
  async clipboard(to: string | undefined): Promise<void> {
    const { texts, notify } = this.#parts;
    const text = await clipboard.readText();
    if (text === '') {
      const intent: Intent = { kind: 'view', view: 'send' };
      notify({ title: texts().t('notice.clipboardEmpty'), text: '', intent });
      return;
    }
    await this.#send({ text, ...(to !== undefined && { to: [to] }) }, to);
  }

  async #send(request: { paths?: string[]; text?: string; to?: string[] }, to: string | undefined): Promise<void> {
    const { link, dialogs, texts, notify, openIntent } = this.#parts;
    try {
      const client = await link.client();
      const { transfer } = await client.call('send', request, { signal: new AbortController().signal });
      if (transfer === undefined) return;
      const intent: Intent = { kind: 'view', view: 'transfers', transfer: transfer.id };
      if (to === undefined) openIntent(intent);
      else
        notify({
          title: noticeText(texts().t('notice.sending', { peer: to })),
          text: noticeText(transfer.what),
          intent,
        });
    } catch (reason) {
      await dialogs.showFailure(reason instanceof Error ? reason.message : String(reason));
    }
  }
}
