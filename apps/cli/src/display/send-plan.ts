// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import type { Selection, SendPlan } from '@keibidrop/peer';
import { errorOfFailures, exitCodeOf } from '@keibidrop/protocol';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';
import { formatBytes, formatCount } from './format.ts';
import { jsonErrorLine, lineOf } from './json-lines.ts';
import { failureList } from './outcome.ts';

interface PlannedSend {
  paths: readonly string[];
  selection: Selection | undefined;
  json?: boolean | undefined;
  verbose?: boolean | undefined;
}

/** Prints what a send would offer, and with `verbose` each path. @returns  the exit code */
export async function showSendPlan(send: PlannedSend, io: Io, { planSend }: PeerPackage): Promise<number> {
  const { json = false, verbose = false, selection } = send;
  const paths = send.paths.map((path) => resolve(io.cwd, path));
  const list = (path: string, { type, size: bytes }: { type: string; size: number }) => {
    const line = `${harmless(path)}${type === 'directory' ? '/' : ''}\n`;
    io.stdout.write(json ? lineOf('entry', { path, type, bytes }) : line);
  };
  const onEntry = verbose ? list : undefined;
  const { failed, unsupported, ...plan } = await planSend({ paths, selection, signal: io.signal, onEntry });
  for (const path of unsupported)
    io.stderr.write(`Warning: left out: neither a file, a folder nor a symlink: ${harmless(path)}\n`);
  const error = errorOfFailures(failed);
  io.stdout.write(json ? lineOf('plan', plan) : `${sentence(plan)}\n`);
  if (error === undefined) return 0;
  if (json) io.stdout.write(jsonErrorLine(error));
  else io.stderr.write(failureList(failed, io));
  return exitCodeOf(error);
}

function sentence({ files, directories, symlinks, bytes, leftOut }: Omit<SendPlan, 'failed' | 'unsupported'>): string {
  const parts = [formatCount(files, 'file')];
  if (directories > 0) parts.push(formatCount(directories, 'folder'));
  if (symlinks > 0) parts.push(formatCount(symlinks, 'symlink'));
  const left = leftOut > 0 ? ` ${formatCount(leftOut, 'name')} would be left out.` : '';
  return `Would send ${parts.join(', ')}, ${formatBytes(bytes)}.${left}`;
}
