// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf, RequestOf, Streaming, Unary } from '@keibidrop/peer/local';

export interface CallOptions {
  signal?: AbortSignal;
}

/** How the pages reach the daemon: over loopback HTTP in a browser, through the preload in the window. */
export interface Api {
  /** @throws ApiError */
  call<M extends Unary>(method: M, request: Partial<RequestOf<M>>, options?: CallOptions): Promise<ReplyOf<M>>;
  /** Yields until the daemon ends it, or `signal`. @throws ApiError */
  stream<M extends Streaming>(
    method: M,
    request: Partial<RequestOf<M>>,
    options: { signal: AbortSignal },
  ): AsyncIterable<ReplyOf<M>>;
  /** What a drop holds. To be called within the event: a browser forgets it afterwards. */
  gatherDrop(data: DataTransfer): Promise<GatheredItem[]>;
  /** What an `<input type=file>` holds, or what was pasted. */
  gatherFiles(files: readonly File[]): Promise<GatheredItem[]>;
  /** Takes them to where the daemon can read them: the window has their paths; a browser uploads them. @throws ApiError */
  take(items: readonly GatheredItem[], options: TakeOptions): Promise<Taken>;
  /** What only the window can do; undefined in a browser. */
  readonly shell: Shell | undefined;
}

/** A file or a folder that a person has dropped or picked, not yet where the daemon can read it. */
export interface GatheredItem {
  readonly name: string;
  readonly kind: 'file' | 'folder';
  /** Unknown in the window. */
  readonly files: number | undefined;
  readonly bytes: number | undefined;
  readonly source: { readonly path: string } | { readonly found: readonly FoundFile[] };
}

/** A file, or a folder with nothing in it, with its path below what was dropped; its parts are joined by `/`. */
export interface FoundFile {
  readonly path: string;
  readonly file: File | undefined;
}

export interface TakeOptions {
  signal: AbortSignal;
  /** In bytes. Not called where nothing has to be copied. */
  onProgress(taken: number, total: number): void;
}

/** What `send` is to be given. */
export type Taken = { paths: string[] } | { drop: string };

/** What the window can do beside showing the page. */
export interface Shell {
  /** Asks for files or folders; empty if none was chosen. Absolute paths. */
  pick(what: 'files' | 'folders'): Promise<string[]>;
  /** Asks for a folder to put things into. */
  pickFolder(start: string | undefined): Promise<string | undefined>;
  /** Shows a file or folder in the system's file manager. */
  reveal(path: string): Promise<void>;
  /** Starts a daemon that was stopped. */
  restartDaemon(): Promise<void>;
  preferences(): Promise<Preferences>;
  changePreferences(changes: Partial<Preferences>): Promise<Preferences>;
  /** What was asked for outside the page: a link, a file opened with us, an entry of the tray. Those that came before are told first. */
  onIntent(listener: (intent: Intent) => void): () => void;
}

/** What the window itself keeps, beside the daemon's settings. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  /** A language of the catalogue, or that of the system. */
  language: 'system' | 'en' | 'de' | 'es';
  startAtLogin: boolean;
  closeToTray: boolean;
}

export const VIEWS = ['send', 'receive', 'transfers', 'people', 'mounts', 'history', 'settings'] as const;
export type View = (typeof VIEWS)[number];

export type Intent =
  | { kind: 'view'; view: View; transfer?: number }
  | { kind: 'receive'; code: string }
  | { kind: 'send'; paths: string[]; to?: string }
  | { kind: 'contact'; fingerprint: string; name?: string };

/** A failed call: what the daemon said, or that it is not there. */
export class ApiError extends Error {
  /** An ErrorCode of the daemon, or UNREACHABLE or UNAUTHORIZED of the way to it. */
  readonly code: string;
  readonly detail: Readonly<Record<string, unknown>> | undefined;

  constructor(code: string, message: string, detail?: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.detail = detail;
  }
}
