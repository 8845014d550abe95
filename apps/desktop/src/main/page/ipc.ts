// SPDX-License-Identifier: MPL-2.0
import { type IpcMainEvent, type IpcMainInvokeEvent, ipcMain, type WebContents } from 'electron';
import { ApiError } from '../../shared/api.ts';
import { CHANNELS, type Subscription } from '../../shared/channels.ts';
import type { Failure, Outcome, RequestName, Requests } from '../../shared/requests.ts';
import { PAGE_ORIGIN } from './page-files.ts';
import { argsOf, subscriptionOf } from './request-checks.ts';

export type Handler<K extends RequestName> = (
  args: Requests[K]['args'],
) => Requests[K]['result'] | Promise<Requests[K]['result']>;
/** One handler for each request. */
export type Handlers = { readonly [K in RequestName]: Handler<K> };

/** Messages from the page other than requests. */
export interface PageListener {
  onSubscribe(subscription: Subscription): void;
  onUnsubscribe(id: number): void;
  /** The page accepts intents from now on. */
  onListening(): void;
}

/**
 * Serves messages from the page; the only user of ipcMain. A message from any other window, frame or origin is refused
 * before its content is read. Arguments are checked before use.
 *
 * @param page  contents of the page's window, while there is one
 */
export function hearPage(page: () => WebContents | undefined, handlers: Handlers, listener: PageListener): void {
  ipcMain.handle(CHANNELS.request, (event, name: unknown, args: unknown) => {
    if (!isPage(event, page())) return refused('This is not a page of KeibiDrop.');
    return outcomeOf(handlers, name, args);
  });
  const on = (channel: string, hear: (value: unknown) => void) =>
    ipcMain.on(channel, (event, value: unknown) => {
      if (isPage(event, page())) hear(value);
    });
  on(CHANNELS.subscribe, (value) => {
    const subscription = subscriptionOf(value);
    if (subscription !== undefined) listener.onSubscribe(subscription);
  });
  on(CHANNELS.unsubscribe, (id) => {
    if (Number.isInteger(id)) listener.onUnsubscribe(id as number);
  });
  on(CHANNELS.listening, () => listener.onListening());
}

async function outcomeOf(handlers: Handlers, name: unknown, args: unknown): Promise<Outcome<unknown>> {
  if (typeof name !== 'string' || !Object.hasOwn(handlers, name)) {
    return refused('Unknown request.');
  }
  const asked = name as RequestName;
  try {
    const handler = handlers[asked] as (args: unknown) => unknown;
    return { result: await handler(argsOf(asked, args)) };
  } catch (reason) {
    return { error: failureOf(reason) };
  }
}

/** The form in which an error goes to the page. Anything but an ApiError is a bug of ours. */
export function failureOf(reason: unknown): Failure {
  if (!(reason instanceof ApiError)) return { code: 'INTERNAL', message: String(reason) };
  const { code, message, detail } = reason;
  return { code, message, ...(detail && { detail }) };
}

function refused(message: string): Outcome<never> {
  return { error: { code: 'USAGE', message } };
}

function isPage(event: IpcMainEvent | IpcMainInvokeEvent, page: WebContents | undefined): boolean {
  if (page === undefined || event.sender !== page) return false;
  const frame = event.senderFrame;
  // Electron before 15 gives no frame; there a preload runs in the main frame only.
  if (frame === undefined) return isOurs(page.getURL());
  return frame !== null && frame === page.mainFrame && isOurs(frame.url);
}

function isOurs(url: string): boolean {
  return url.startsWith(`${PAGE_ORIGIN}/`);
}
