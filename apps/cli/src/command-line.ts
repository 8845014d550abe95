// SPDX-License-Identifier: MPL-2.0
import { exitCodeOf, KeibiError } from '@keibidrop/protocol';
import { type Command, CommanderError } from 'commander';
import type { LoadPeer } from './command.ts';
import { reportError } from './display/error-report.ts';
import { createProgram } from './program.ts';
import type { Io } from './terminal/io.ts';

/**
 * Parses and runs one command line, prints its final error, and resolves with the exit code (docs/cli.md). Never rejects.
 *
 * @param argv      without the interpreter and the script
 * @param loadPeer  called once a command runs
 */
export async function runCommandLine(argv: readonly string[], io: Io, loadPeer: LoadPeer): Promise<number> {
  let exitCode = 0;
  const run: Parameters<typeof createProgram>[1] = async (command, options) => {
    exitCode = await command.run(options, io, loadPeer);
  };
  const program = createProgram(io, run, argv[0]);
  try {
    await program.parseAsync(argv.map(notAnOption), { from: 'user' });
    return exitCode;
  } catch (reason) {
    if (reason instanceof CommanderError && isHelp(reason)) return reason.exitCode === 0 ? 0 : USAGE_EXIT;
    const error =
      reason instanceof CommanderError ? await usageErrorOf(reason, argv, program) : endOf(reason, io.signal);
    reportError(error, io, wantsJson(argv));
    return exitCodeOf(error);
  }
}

const USAGE_EXIT = 2;

/** One fingerprint in 64 begins with a dash. As a link it cannot be parsed as an option. */
function notAnOption(word: string): string {
  return /^-[\w-]{85}$/.test(word) ? `keibidrop://id/${word}` : word;
}

/** The error that ended the run. After an interrupt every failure counts as the interrupt. */
function endOf(reason: unknown, signal: AbortSignal): KeibiError {
  return signal.aborted ? KeibiError.from(signal.reason, 'CANCELLED') : KeibiError.from(reason, 'INTERNAL');
}

async function usageErrorOf(reason: CommanderError, argv: readonly string[], program: Command): Promise<KeibiError> {
  const { usageError } = await import('./help/usage-error.ts');
  return usageError(reason, argv, program);
}

/** Help or the version has been printed; help because of a missing command has a non-zero `exitCode`. */
function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.help' || code === 'commander.helpDisplayed' || code === 'commander.version';
}

/** Reads argv itself, because a usage error occurs before the options are parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}
