// SPDX-License-Identifier: MPL-2.0
import { exitCodeOf, KeibiError } from '@keibidrop/protocol';
import { type Command, CommanderError } from 'commander';
import { runAdd } from './commands/add.ts';
import { runBench } from './commands/bench.ts';
import { runConnect } from './commands/connect.ts';
import { runContacts } from './commands/contacts.ts';
import { runDaemon } from './commands/daemon.ts';
import { runDoctor } from './commands/doctor.ts';
import { runHistory } from './commands/history.ts';
import { runId } from './commands/id.ts';
import { runInvitations } from './commands/invitations.ts';
import { runList } from './commands/list.ts';
import { runMcp } from './commands/mcp.ts';
import { runMount, runUnmount } from './commands/mount.ts';
import { runPeers } from './commands/peers.ts';
import { runPull } from './commands/pull.ts';
import { runReceive } from './commands/receive.ts';
import { runRelay } from './commands/relay.ts';
import { runSend } from './commands/send.ts';
import { runShare } from './commands/share.ts';
import { runStatus, runStop } from './commands/status.ts';
import { runTransfers } from './commands/transfers.ts';
import { runUi } from './commands/ui.ts';
import { reportError } from './display/error-report.ts';
import type { PeerPackage } from './peer-package.ts';
import { createProgram } from './program.ts';
import type { Io } from './terminal/io.ts';

/**
 * Parses and runs one command line, prints its final error, and resolves with the exit code (docs/cli.md). Never rejects.
 *
 * @param argv      without the interpreter and the script
 * @param loadPeer  called once a command runs
 */
export async function runCommandLine(
  argv: readonly string[],
  io: Io,
  loadPeer: () => Promise<PeerPackage>,
): Promise<number> {
  let exitCode = 0;
  const program = createProgram(
    {
      send: async (options) => {
        exitCode = await runSend(options, io, await loadPeer());
      },
      receive: async (options) => {
        exitCode = await runReceive(options, io, await loadPeer());
      },
      connect: async (options) => {
        exitCode = await runConnect(options, io, await loadPeer());
      },
      mount: async (options) => {
        exitCode = await runMount(options, io, await loadPeer());
      },
      unmount: async (options) => {
        exitCode = await runUnmount(options, io, await loadPeer());
      },
      list: async (options) => {
        exitCode = await runList(options, io, await loadPeer());
      },
      pull: async (options) => {
        exitCode = await runPull(options, io, await loadPeer());
      },
      add: async (options) => {
        exitCode = await runAdd(options, io, await loadPeer());
      },
      share: async (options) => {
        exitCode = await runShare(options, io, await loadPeer());
      },
      bench: async (options) => {
        exitCode = await runBench(options, io, await loadPeer());
      },
      relay: async (options) => {
        exitCode = await runRelay(options, io, await loadPeer());
      },
      contacts: async (options) => {
        exitCode = await runContacts(options, io, loadPeer);
      },
      id: async (options) => {
        exitCode = await runId(options, io, await loadPeer());
      },
      peers: async (options) => {
        exitCode = await runPeers(options, io, await loadPeer());
      },
      daemon: async (options) => {
        exitCode = await runDaemon(options, io, await loadPeer());
      },
      status: async (options) => {
        exitCode = await runStatus(options, io, await loadPeer());
      },
      stop: async (options) => {
        exitCode = await runStop(options, io, await loadPeer());
      },
      transfers: async (options) => {
        exitCode = await runTransfers(options, io, await loadPeer());
      },
      history: async (options) => {
        exitCode = await runHistory(options, io, await loadPeer());
      },
      ui: async (options) => {
        exitCode = await runUi(options, io, await loadPeer());
      },
      invitations: async (options) => {
        exitCode = await runInvitations(options, io, await loadPeer());
      },
      mcp: async (options) => {
        exitCode = await runMcp(options, io, await loadPeer());
      },
      doctor: async (options) => {
        exitCode = await runDoctor(options, io, loadPeer);
      },
    },
    io,
  );
  try {
    await program.parseAsync(argv.map(notAnOption), { from: 'user' });
    return exitCode;
  } catch (reason) {
    if (reason instanceof CommanderError && isHelp(reason)) return reason.exitCode === 0 ? 0 : USAGE_EXIT;
    const error = reason instanceof CommanderError ? usageError(reason, argv, program) : endOf(reason, io.signal);
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

/** Help or the version has been printed; help because of a missing command has a non-zero `exitCode`. */
function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.help' || code === 'commander.helpDisplayed' || code === 'commander.version';
}

/** Rewrites "error: unknown option '--al'\n(Did you mean --all?)" as one line in our style. */
function usageError(error: CommanderError, argv: readonly string[], program: Command): KeibiError {
  const [what = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const hint = rest.join(' ').replace(/^\((.*)\)$/, ' $1');
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}.${hint}`.replace(/\.\.$/, '.');
  const command = program.commands.find((known) => known.name() === argv[0]);
  const help = command === undefined ? 'keibidrop --help' : `keibidrop ${command.name()} --help`;
  return new KeibiError('USAGE', `${sentence} See ${help}.`, { cause: error });
}

/** Reads argv itself, because a usage error occurs before the options are parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}
