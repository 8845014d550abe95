// SPDX-License-Identifier: MPL-2.0
import { type ErrorCode, exitCodeOf, KeibiError } from '@keibidrop/protocol';
import { runCommandLine, wantsJson } from './command-line.ts';
import { reportError } from './display/error-report.ts';
import { createProcessIo } from './terminal/io.ts';

/** Failures of the system or the installation: reported as they are, not as bugs of the program. */
const LACKS: readonly ErrorCode[] = ['SYSTEM_LIMIT', 'PROGRAM_INCOMPLETE', 'PLATFORM_UNSUPPORTED'];

/**
 * Runs the command line of this process and ends the process.
 * @param onSuccess  called before the end of a command that succeeded
 */
export async function main(onSuccess: () => void): Promise<never> {
  const argv = process.argv.slice(2);
  const interrupt = new AbortController();
  const io = createProcessIo(interrupt.signal);

  const onBug = (reason: unknown): void => {
    const lack = KeibiError.from(reason, 'INTERNAL');
    const error = LACKS.includes(lack.code) ? lack : new KeibiError('INTERNAL', undefined, { cause: reason });
    reportError(error, io, wantsJson(argv));
    void exit(exitCodeOf(error));
  };
  process.on('uncaughtException', onBug);
  process.on('unhandledRejection', onBug);

  const onSignal = (): void => {
    const error = new KeibiError('CANCELLED');
    // The first signal lets the command end in order; the second ends it at once.
    if (interrupt.signal.aborted) void exit(exitCodeOf(error), { atOnce: true });
    interrupt.abort(error);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // A child of another `keibidrop`, for a bench, ends with its parent.
  process.on('disconnect', onSignal);

  // A promise that can never settle must not look like success.
  process.on('beforeExit', () => onBug(new Error('the command ended without a result')));

  const code = await runCommandLine(argv, io, () => import('./peer-functions.ts'));
  await flushOutput();
  if (code === 0) onSuccess();
  process.exit(code);
}

/** Ends the process after its output, without waiting for threads or open sockets. */
async function exit(code: number, { atOnce = false } = {}): Promise<never> {
  if (!atOnce) await flushOutput();
  process.exit(code);
}

async function flushOutput(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))));
}
