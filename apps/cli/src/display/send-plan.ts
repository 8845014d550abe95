// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { errorOfFailures, exitCodeOf } from '@keibidrop/protocol';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';
import { formatBytes, formatCount } from './format.ts';
import { jsonErrorLine, lineOf } from './json-lines.ts';
import { failureList } from './outcome.ts';

interface PlannedSend {
  paths: readonly string[];
  selection: { exclude: string; gitignore: boolean } | undefined;
  json?: boolean | undefined;
  verbose?: boolean | undefined;
}

/** Prints what a send would offer, and with `verbose` each path. @returns  the exit code */
export async function showSendPlan(send: PlannedSend, io: Io, { planSend }: PeerPackage): Promise<number> {
  const { json = false, verbose = false, selection } = send;
  const paths = send.paths.map((path) => resolve(io.cwd, path));
  const list = (path: string, type: string, bytes: number) =>
    io.stdout.write(
      json ? lineOf('entry', { path, type, bytes }) : `${harmless(path)}${type === 'directory' ? '/' : ''}\n`,
    );
  const onEntry = verbose
    ? (path: string, entry: { type: string; size: number }) => list(path, entry.type, entry.size)
    : undefined;
  const { failed, unsupported, ...plan } = await planSend({ paths, selection, signal: io.signal, onEntry });
  for (const path of unsupported)
    io.stderr.write(`Warning: left out: neither a file, a folder nor a symlink: ${harmless(path)}\n`);
  const error = errorOfFailures(failed);
  if (json) io.stdout.write(lineOf('plan', plan));
  else io.stdout.write(`${sentence(plan)}\n`);
  if (error === undefined) return 0;
  if (json) io.stdout.write(jsonErrorLine(error));
  else io.stderr.write(failureList(failed, io));
  return exitCodeOf(error);
}

function sentence({ files, directories, symlinks, bytes, leftOut }: Record<string, number>): string {
  const parts = [formatCount(files ?? 0, 'file')];
  if (directories) parts.push(formatCount(directories, 'folder'));
  if (symlinks) parts.push(formatCount(symlinks, 'symlink'));
  const left = leftOut ? ` ${formatCount(leftOut, 'name')} would be left out.` : '';
  return `Would send ${parts.join(', ')}, ${formatBytes(bytes ?? 0)}.${left}`;
}
