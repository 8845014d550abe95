// SPDX-License-Identifier: MPL-2.0
import type { ReplyOf, RequestOf, Streaming, Unary } from '@keibidrop/daemon/local';

export interface CallOptions {
  signal?: AbortSignal;
}

/** How the page reaches the daemon: over loopback HTTP in a browser, through the preload in the window. */
export interface Api {
  /** @throws ApiError */
  call<M extends Unary>(method: M, request: Partial<RequestOf<M>>, options?: CallOptions): Promise<ReplyOf<M>>;
  /** Yields replies until the daemon or `signal` ends the stream. @throws ApiError */
  stream<M extends Streaming>(
    method: M,
    request: Partial<RequestOf<M>>,
    options: { signal: AbortSignal },
  ): AsyncIterable<ReplyOf<M>>;
  /** Items of a drop. Call it within the event: the browser clears the data afterwards. */
  gatherDrop(data: DataTransfer): Promise<GatheredItem[]>;
  /** Items of an `<input type=file>` or of a paste. */
  gatherFiles(files: readonly File[]): Promise<GatheredItem[]>;
  /** Makes items readable for the daemon: the window passes their paths, a browser uploads them. @throws ApiError */
  take(items: readonly GatheredItem[], options: TakeOptions): Promise<Taken>;
  /** Functions of the window; undefined in a browser. */
  readonly shell: Shell | undefined;
}

/** A file or folder that the user dropped or picked, before `take` makes it readable for the daemon. */
export interface GatheredItem {
  readonly name: string;
  readonly kind: 'file' | 'folder';
  /** Undefined in the window. */
  readonly files: number | undefined;
  readonly bytes: number | undefined;
  readonly source: { readonly path: string } | { readonly found: readonly FoundFile[] };
}

/** A file or an empty folder, with its path below the dropped item; parts are joined by `/`. */
export interface FoundFile {
  readonly path: string;
  readonly file: File | undefined;
}

export interface TakeOptions {
  signal: AbortSignal;
  /** In bytes. Not called if nothing has to be copied. */
  onProgress(taken: number, total: number): void;
}

/** The source argument of `send`. */
export type Taken = { paths: string[] } | { drop: string };

/** Functions of the window beyond showing the page. */
export interface Shell {
  /** Asks for files or folders; empty if cancelled. Absolute paths. */
  pick(what: 'files' | 'folders'): Promise<string[]>;
  /** Asks for a destination folder. */
  pickFolder(start: string | undefined): Promise<string | undefined>;
  /** Shows a file or folder in the system's file manager. */
  reveal(path: string): Promise<void>;
  /** Starts a daemon that the user had stopped. */
  restartDaemon(): Promise<void>;
  preferences(): Promise<Preferences>;
  changePreferences(changes: Partial<Preferences>): Promise<Preferences>;
  /** Reports requests from outside the page: a link, an opened file, a tray entry. Earlier ones are delivered first. */
  onIntent(listener: (intent: Intent) => void): () => void;
}

/** Preferences of the window itself; the daemon keeps its own settings. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  /** A language of the catalogue, or the system's. */
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

/** A failed call: the daemon's error, or the daemon is unreachable. */
export class ApiError extends Error {
  /** An ErrorCode of the daemon, or UNREACHABLE or UNAUTHORIZED from the transport. */
  readonly code: string;
  readonly detail: Readonly<Record<string, unknown>> | undefined;

  constructor(code: string, message: string, detail?: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.detail = detail;
  }
}
