// SPDX-License-Identifier: MPL-2.0
import type { KeibiError } from '@keibidrop/protocol';
import { fitted, type Io, paint } from '../terminal/io.ts';
import { harmless, harmlessLines } from '../terminal/terminal-text.ts';
import { jsonErrorLine } from './json-lines.ts';

/** Prints the error that ended a run: one `--json` line on stdout, or sentences on stderr. */
export function reportError(error: KeibiError, io: Io, json: boolean): void {
  if (json) {
    io.stdout.write(jsonErrorLine(error));
    return;
  }
  const { stderr } = io;
  const lines = [`${paint(stderr, 'red', 'keibidrop:')} ${harmlessLines(error.message)}`];
  for (const { address, reason } of attemptsOf(error)) lines.push(`  ${harmless(address)}: ${harmless(reason)}`);
  if (error.code === 'INTERNAL') lines.push(harmlessLines(stackOf(error)));
  stderr.write(`${fitted(stderr, lines.join('\n'))}\n`);
}

/** Each address that was tried and why it failed: `detail.attempts` of the error. */
function attemptsOf(error: KeibiError): { address: string; reason: string }[] {
  const attempts: unknown = error.detail?.attempts;
  return Array.isArray(attempts) ? attempts.flatMap(attemptOf) : [];
}

function attemptOf(attempt: unknown): { address: string; reason: string }[] {
  if (typeof attempt !== 'object' || attempt === null || !('error' in attempt)) return [];
  const { address, host, port, transport, error }: { [key: string]: unknown; error: unknown } = attempt;
  const where = address ?? (String(host).includes(':') ? `[${host}]:${port}` : `${host}:${port}`);
  return [{ address: `${where} (${transport})`, reason: rootMessage(error) }];
}

/** The message of the innermost cause, such as "connect ECONNREFUSED …". */
function rootMessage(error: unknown): string {
  // An error from the daemon is a plain object.
  if (!(error instanceof Error)) return hasMessage(error) ? error.message : String(error);
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message;
}

function hasMessage(value: unknown): value is { message: string } {
  return typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';
}

function stackOf(error: KeibiError): string {
  const { cause } = error;
  return (cause instanceof Error ? cause.stack : undefined) ?? error.stack ?? '';
}
