// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf, RequestOf, Streaming, Unary } from '@keibidrop/peer/local';
import {
  type Api,
  ApiError,
  type CallOptions,
  type Gathered,
  type GatheredItem,
  type Shell,
} from '../../shared/api.ts';
import type { Bridge, Failure, Outcome, RequestName, Requests } from '../../shared/requests.ts';

/** The way of the window: everything goes to the main process, which has the daemon. */
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

  gatherDrop(data: DataTransfer): Promise<Gathered> {
    const folders = Array.from(
      data.items,
      (item) => item.kind === 'file' && item.webkitGetAsEntry()?.isDirectory === true,
    );
    return Promise.resolve(this.#gathered(data.files, (i) => folders[i] === true));
  }

  gatherFiles(files: FileList): Promise<Gathered> {
    return Promise.resolve(this.#gathered(files, () => false));
  }

  #gathered(files: FileList, isFolder: (index: number) => boolean): Gathered {
    const paths = Array.from(files, (file) => this.#pathOf(file));
    const items = Array.from(files, ({ name, size }, i): GatheredItem => {
      return isFolder(i)
        ? { name, kind: 'folder', files: undefined, bytes: undefined }
        : { name, kind: 'file', files: 1, bytes: size };
    });
    return {
      items,
      async take({ signal }) {
        if (signal.aborted) throw cancelled();
        if (paths.includes('')) throw new ApiError('USAGE', 'What was dropped is no file of this computer.');
        return { paths };
      },
    };
  }

  #pathOf(file: File): string {
    // Electron before 32 has it in the file, and cannot hand a file to the preload.
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
