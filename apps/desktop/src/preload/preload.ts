// SPDX-License-Identifier: MPL-2.0

// The only code between the page and Electron: runs sandboxed in an isolated world and gives the page functions.
import { contextBridge, type IpcRendererEvent, ipcRenderer, webUtils } from 'electron';
import type { Intent } from '../shared/api.ts';
import { CHANNELS, type SubscriptionMessage } from '../shared/channels.ts';
import type { Bridge, Failure } from '../shared/requests.ts';

interface Listener {
  onReplies(replies: unknown[]): void;
  onEnd(error: Failure | undefined): void;
}

const subscriptions = new Map<number, Listener>();
let last = 0;

ipcRenderer.on(CHANNELS.replies, (_event, message: SubscriptionMessage) => {
  const listener = subscriptions.get(message.id);
  if ('replies' in message) {
    listener?.onReplies(message.replies);
    return;
  }
  subscriptions.delete(message.id);
  listener?.onEnd(message.end ?? undefined);
});

const bridge: Bridge = {
  request: (name, args) => ipcRenderer.invoke(CHANNELS.request, name, args),

  subscribe(method, request, onReplies, onEnd) {
    const id = ++last;
    subscriptions.set(id, { onReplies, onEnd });
    ipcRenderer.send(CHANNELS.subscribe, { id, method, request });
    return () => {
      if (subscriptions.delete(id)) ipcRenderer.send(CHANNELS.unsubscribe, id);
    };
  },

  // Electron before 29 keeps the path in the file object, where the page reads it.
  pathOf: (file) => webUtils?.getPathForFile(file) ?? '',

  onIntent(listener) {
    const onIntent = (_event: IpcRendererEvent, intent: Intent) => listener(intent);
    ipcRenderer.on(CHANNELS.intent, onIntent);
    ipcRenderer.send(CHANNELS.listening);
    return () => ipcRenderer.removeListener(CHANNELS.intent, onIntent);
  },
};

contextBridge.exposeInMainWorld('keibidrop', bridge);
