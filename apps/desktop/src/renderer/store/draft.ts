// SPDX-License-Identifier: MPL-2.0
import { create } from 'zustand';
import type { Api, ApiError, GatheredItem } from '../../shared/api.ts';
import { type SendOptions, sendRequestOf } from './send-options.ts';
import { apiErrorOf } from './use-action.ts';

/** An item of the draft. */
export interface DraftItem extends GatheredItem {
  readonly id: number;
}

/** The items, text and recipients of the next send. Survives a change of view. */
interface Draft {
  readonly items: readonly DraftItem[];
  /** A text instead of files; undefined: files. */
  readonly text: string | undefined;
  /** Names of contacts; empty: anyone with the code. */
  readonly to: readonly string[];
  /** A drop is still being read. */
  readonly looking: boolean;
  /** Upload to the daemon in progress. `total` is 0 if nothing has to be copied. */
  readonly taking: { readonly taken: number; readonly total: number } | undefined;
  readonly error: ApiError | undefined;
}

const NOTHING: Draft = { items: [], text: undefined, to: [], looking: false, taking: undefined, error: undefined };

export const useDraft = create<Draft>()(() => NOTHING);

let last = 0;
let taking: AbortController | undefined;

/** Adds the found items once they are all read. @returns whether there were any */
export async function gather(found: Promise<readonly GatheredItem[]>): Promise<boolean> {
  useDraft.setState({ looking: true, error: undefined });
  try {
    const added = (await found).map((item): DraftItem => ({ ...item, id: ++last }));
    if (added.length > 0) useDraft.setState(({ items }) => ({ items: [...items, ...added], text: undefined }));
    return added.length > 0;
  } catch (reason) {
    useDraft.setState({ error: apiErrorOf(reason) });
    return false;
  } finally {
    useDraft.setState({ looking: false });
  }
}

const measuring = new Set<number>();

/** Asks the daemon for the kind and size of a path, which the window does not know. */
export async function measureItem(api: Api, { id, source, bytes }: DraftItem): Promise<void> {
  if (bytes !== undefined || !('path' in source) || measuring.has(id)) return;
  measuring.add(id);
  try {
    const measure = await api.call('measure', { path: source.path });
    const kind = measure.folder ? 'folder' : 'file';
    const sizes = measure.complete ? { files: measure.files, bytes: measure.bytes } : {};
    useDraft.setState(({ items }) => ({
      items: items.map((item) => (item.id === id ? { ...item, kind, ...sizes } : item)),
    }));
  } catch {
    // Sending reports the error.
  }
}

/** An item of the window, which knows only its path. */
export function itemOfPath(path: string, kind: 'file' | 'folder'): GatheredItem {
  const name = path.split(/[\\/]/).filter(Boolean).pop() ?? path;
  return { name, kind, files: undefined, bytes: undefined, source: { path } };
}

export function removeItem(id: number): void {
  useDraft.setState(({ items }) => ({ items: items.filter((item) => item.id !== id) }));
}

export function draftText(text: string | undefined): void {
  useDraft.setState({ text, error: undefined });
}

export function draftRecipients(to: readonly string[]): void {
  useDraft.setState({ to });
}

export function clearDraft(): void {
  taking?.abort();
  useDraft.setState(NOTHING);
}

/** Cancels the upload to the daemon. The draft stays. */
export function stopTaking(): void {
  taking?.abort();
}

/**
 * Sends the draft.
 *
 * @returns the transfer; undefined if it failed, with the error in the draft, or was cancelled
 */
export async function sendDraft(api: Api, options: SendOptions): Promise<number | undefined> {
  const { items, text, to } = useDraft.getState();
  if (taking !== undefined) return undefined;
  const mine = new AbortController();
  taking = mine;
  const onProgress = (taken: number, total: number) => useDraft.setState({ taking: { taken, total } });
  useDraft.setState({ taking: { taken: 0, total: 0 }, error: undefined });
  try {
    const what = text === undefined ? await api.take(items, { signal: mine.signal, onProgress }) : { text };
    const { transfer } = await api.call('send', { ...sendRequestOf(options, to), ...what });
    useDraft.setState(NOTHING);
    return transfer?.id;
  } catch (reason) {
    const error = apiErrorOf(reason);
    useDraft.setState({ taking: undefined, error: error.code === 'CANCELLED' ? undefined : error });
    return undefined;
  } finally {
    taking = undefined;
  }
}
