// SPDX-License-Identifier: MPL-2.0
import { ApiError, type FoundFile, type GatheredItem, type Taken, type TakeOptions } from '../../shared/api.ts';
import { joined } from './gather.ts';

/** Address and authorization for uploads from a browser (docs/architecture/daemon.md). */
export interface UploadTarget {
  readonly url: string;
  readonly authorization: string;
}

/** Parallel uploads: a small file spends most of its time waiting. */
const AT_ONCE = 4;

/** Copies a browser's files to the daemon. Returns the name of the drop that holds them. */
export async function upload(
  items: readonly GatheredItem[],
  target: UploadTarget,
  options: TakeOptions,
): Promise<Taken> {
  const { signal, onProgress } = options;
  const found = joined(items);
  const total = found.reduce((sum, { file }) => sum + (file?.size ?? 0), 0);
  onProgress(0, total);
  const opened = await request('POST', target.url, { ...target, signal, body: JSON.stringify({ bytes: total }) });
  const { drop } = JSON.parse(opened) as { drop: string };
  const over = new AbortController();
  const stop = () => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  const sent = new Map<FoundFile, number>();
  let taken = 0;
  const put = async (each: FoundFile) => {
    const place = `${target.url}/${drop}/${each.path.split('/').map(encodeURIComponent).join('/')}`;
    await request('PUT', each.file === undefined ? `${place}/` : place, {
      ...target,
      signal: over.signal,
      ...(each.file !== undefined && { body: each.file, modified: each.file.lastModified }),
      onSent(bytes) {
        taken += bytes - (sent.get(each) ?? 0);
        sent.set(each, bytes);
        onProgress(taken, total);
      },
    });
    sent.delete(each);
  };
  try {
    const left = found.values();
    const work = async () => {
      for (const each of left) await put(each);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { drop };
  } catch (reason) {
    over.abort();
    void request('DELETE', `${target.url}/${drop}`, { ...target, signal: new AbortController().signal }).catch(
      () => {},
    );
    throw reason;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

interface Sending {
  authorization: string;
  signal: AbortSignal;
  body?: Blob | string;
  modified?: number;
  onSent?(bytes: number): void;
}

/** Sends one request. Uses XMLHttpRequest, the only interface that reports upload progress. @throws ApiError */
function request(method: string, url: string, sending: Sending): Promise<string> {
  const { authorization, signal, body, modified, onSent } = sending;
  return new Promise((resolve, reject) => {
    const cancelled = () => new ApiError('CANCELLED', 'Cancelled.');
    if (signal.aborted) return reject(cancelled());
    const asked = new XMLHttpRequest();
    const stop = () => asked.abort();
    asked.open(method, url);
    asked.setRequestHeader('authorization', authorization);
    if (modified !== undefined) asked.setRequestHeader('x-modified', String(modified));
    asked.upload.onprogress = ({ loaded }) => onSent?.(loaded);
    asked.onload = () => (asked.status < 300 ? resolve(asked.responseText) : reject(refusal(asked)));
    asked.onerror = () => reject(new ApiError('UNREACHABLE', 'The daemon cannot be reached.'));
    asked.onabort = () => reject(cancelled());
    asked.onloadend = () => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });
    asked.send(body ?? null);
  });
}

function refusal({ responseText, status }: XMLHttpRequest): ApiError {
  try {
    const { error } = JSON.parse(responseText) as { error: { code: string; message: string } };
    // The daemon's message is written for a receiver, so it does not fit here.
    return new ApiError(error.code === 'TRANSFER_DISK_FULL' ? 'DROP_TOO_LARGE' : error.code, error.message);
  } catch {
    return new ApiError('INTERNAL', `The upload was refused: ${status}.`);
  }
}
