// SPDX-License-Identifier: MPL-2.0
import { type Problem, type Selection, SendJob } from '@keibidrop/native';
import { decodePage, type Entry, TOP } from '@keibidrop/protocol';
import { failedEntry } from '@keibidrop/transfer';
import type { FailedEntry } from '../events.ts';
import { checkSelection, resolveRoots } from './roots.ts';

export interface PlanOptions {
  paths: readonly string[];
  selection?: Selection | undefined;
  signal: AbortSignal;
  /** Called with each entry in sending order; its path is as the receiver would see it. */
  onEntry?: ((path: string, entry: Entry) => void) | undefined;
}

/** The offer of a send that does not take place. */
export interface SendPlan {
  files: number;
  directories: number;
  symlinks: number;
  bytes: number;
  /** Names that the selection leaves out; a folder counts as one. */
  leftOut: number;
  /** Entries that could not be offered. */
  failed: FailedEntry[];
  /** Sockets, pipes and devices, which are never offered. */
  unsupported: string[];
}

/**
 * Walks the paths as a send does, and offers them to no one.
 *
 * @throws USAGE if the patterns are too long; TRANSFER_SOURCE_MISSING, TRANSFER_SOURCE_UNREADABLE,
 * TRANSFER_SOURCE_UNSUPPORTED; `signal.reason` on abort
 */
export async function planSend({ paths, selection, signal, onEntry }: PlanOptions): Promise<SendPlan> {
  signal.throwIfAborted();
  checkSelection(selection);
  const roots = await resolveRoots(paths);
  const plan: SendPlan = { files: 0, directories: 0, symlinks: 0, bytes: 0, leftOut: 0, failed: [], unsupported: [] };
  const folders = new Map<number, string>([[TOP, '']]);
  const count = (entry: Entry, index: number): void => {
    const path = `${folders.get(entry.parent) ?? ''}${entry.name}`;
    if (entry.type === 'directory') {
      folders.set(index, `${path}/`);
      plan.directories++;
    } else if (entry.type === 'symlink') plan.symlinks++;
    else plan.files++;
    plan.bytes += entry.size;
    onEntry?.(path, entry);
  };
  const report = (problem: Problem): void => {
    if (problem.code === 'TRANSFER_SOURCE_UNSUPPORTED') plan.unsupported.push(problem.path);
    else plan.failed.push(failedEntry(problem));
  };
  await walk({ roots, selection, signal }, ({ pages, problems, walked }) => {
    for (const { first, bytes } of pages) {
      for (const [i, entry] of decodePage(bytes, first).entries()) count(entry, first + i);
    }
    for (const problem of problems) report(problem);
    plan.leftOut = walked?.leftOut ?? plan.leftOut;
  });
  return plan;
}

type News = ReturnType<SendJob['takeNews']>;

/** Resolves after the last news. */
async function walk(
  {
    signal,
    ...options
  }: Pick<ConstructorParameters<typeof SendJob>[0], 'roots' | 'selection'> & { signal: AbortSignal },
  onNews: (news: News) => void,
): Promise<void> {
  let job: SendJob | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const take = () => {
        try {
          const news = job?.takeNews();
          if (news === undefined) return;
          onNews(news);
          if (news.walked !== undefined) resolve();
        } catch (reason) {
          reject(reason);
        }
      };
      job = new SendJob({ ...options, onWake: take });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      job.start();
    });
  } finally {
    await job?.close();
  }
}
