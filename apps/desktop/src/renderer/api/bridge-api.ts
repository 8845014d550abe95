// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf, RequestOf, Streaming, Unary } from '@keibidrop/daemon/local';
import {
  type Api,
  ApiError,
  type CallOptions,
  type GatheredItem,
  type Shell,
  type Taken,
  type TakeOptions,
} from '../../shared/api.ts';
import type { Bridge, Failure, Outcome, RequestName, Requests } from '../../shared/requests.ts';

/** Access from the window: every call goes through the main process. */
export class BridgeApi implements Api {
  readonly shell: Shell;
  readonly #bridge: Bridge;
  #calls = 0;

  constructor(bridge: Bridge) {
    this.#bridge = bridge;
    const ask = <K extends RequestName>(name: K, args: Requests[K]['args']) => asked(bridge.request(name, args));
    this.shell = {
      pick: (what) => ask('shell.pick', { what }),
      pickFolder: async (start) => (await ask('shell.pickFolder', { start: start ?? null })) ?? undefined,
      reveal: async (path) => void (await ask('shell.reveal', { path })),
      restartDaemon: async () => void (await ask('shell.restartDaemon', {})),
      preferences: () => ask('shell.preferences', {}),
      changePreferences: (changes) => ask('shell.changePreferences', changes),
      onIntent: (listener) => bridge.onIntent(listener),
    };
  }

  async call<M extends Unary>(method: M, request: Partial<RequestOf<M>>, { signal }: CallOptions = {}) {
    const call = ++this.#calls;
    const onAbort = () => void this.#bridge.request('daemon.cancel', { call });
    if (signal?.aborted) throw cancelled();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return (await asked(this.#bridge.request('daemon.call', { call, method, request }))) as ReplyOf<M>;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async *stream<M extends Streaming>(
    method: M,
    request: Partial<RequestOf<M>>,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<ReplyOf<M>> {
    const waiting: ReplyOf<M>[] = [];
    let ended: { error: ApiError | undefined } | undefined;
    let wake = () => {};
    const end = (error: ApiError | undefined) => {
      ended ??= { error };
      wake();
    };
    if (signal.aborted) throw cancelled();
    const unsubscribe = this.#bridge.subscribe(
      method,
      request,
      (replies) => {
        waiting.push(...(replies as ReplyOf<M>[]));
        wake();
      },
      (failure) => end(failure && errorOf(failure)),
    );
    const onAbort = () => end(cancelled());
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        yield* waiting.splice(0);
        if (waiting.length > 0) continue;
        if (ended !== undefined) {
          if (ended.error !== undefined) throw ended.error;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      unsubscribe();
    }
  }

  gatherDrop(data: DataTransfer): Promise<GatheredItem[]> {
    const folders = Array.from(data.items)
      .filter(({ kind }) => kind === 'file')
      .map((item) => item.webkitGetAsEntry()?.isDirectory === true);
    return this.#gathered(Array.from(data.files), (i) => folders[i] === true);
  }

  gatherFiles(files: readonly File[]): Promise<GatheredItem[]> {
    return this.#gathered(files, () => false);
  }

  async take(items: readonly GatheredItem[], { signal }: TakeOptions): Promise<Taken> {
    if (signal.aborted) throw cancelled();
    return { paths: items.map(({ source }) => ('path' in source ? source.path : '')) };
  }

  async #gathered(files: readonly File[], isFolder: (index: number) => boolean): Promise<GatheredItem[]> {
    return files.map((file, i): GatheredItem => {
      const path = this.#pathOf(file);
      if (path === '') throw new ApiError('USAGE', 'The dropped item is not a file on this computer.');
      const { name, size } = file;
      return isFolder(i)
        ? { name, kind: 'folder', files: undefined, bytes: undefined, source: { path } }
        : { name, kind: 'file', files: 1, bytes: size, source: { path } };
    });
  }

  #pathOf(file: File): string {
    // Electron before 32 keeps the path in the file object, and cannot pass a file to the preload.
    const { path } = file as File & { path?: string };
    return path || this.#bridge.pathOf(file);
  }
}

async function asked<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const ended = await outcome;
  if ('error' in ended) throw errorOf(ended.error);
  return ended.result;
}

function errorOf({ code, message, detail }: Failure): ApiError {
  return new ApiError(code, message, detail);
}

function cancelled(): ApiError {
  return new ApiError('CANCELLED', 'Cancelled.');
}
