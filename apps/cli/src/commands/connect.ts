// SPDX-License-Identifier: MPL-2.0
import type { ShareView } from '@keibidrop/daemon';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { daemonReach } from '../daemon/background.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { lineOf } from '../display/json-lines.ts';
import { addEverywhereOptions, type Everywhere } from '../options/everywhere.ts';
import { givenCode } from '../options/given-code.ts';
import { limited } from '../options/time-limit.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, quoted } from '../terminal/terminal-text.ts';

/** `keibidrop connect`, parsed. */
export interface ConnectCommand extends Everywhere {
  /** One of the two, unless `leave` is given. Neither: the code is asked for, or read from standard input or KD_CODE. */
  code?: Code;
  contact?: string;
  codeFromStdin?: boolean;
  connect?: string;
  leave?: string;
  timeout?: string;
}

const AFTER_HELP = `
Examples:
  keibidrop connect                     ask for the code; Tab completes it
  keibidrop connect 7-guitar-pencil
  keibidrop connect 7-guitar-pencil --connect 192.168.1.7:26431
  keibidrop connect Anna                accept a share that Anna offers you
  keibidrop list                        list the shares you are connected to
  keibidrop connect --leave photos      disconnect from a share

The daemon holds the connection, and is started if none runs. It reconnects
after a network loss, and after the other side restarts with the same code. It
uses the code once. Later it proves itself with a secret of its own, so only a
share that has lost this secret needs the code again.

Other users of this machine can read the arguments of a process. To hide the
code from them, type it when asked, set KD_CODE, or use - and standard input.

Environment: KD_CODE KD_RENDEZVOUS KD_DISCOVERY KD_PATIENCE KD_CONFIG_DIR
Exit codes: 0 connected, 1 failed, 2 usage, or the code belongs to a transfer,
3 wrong code, 4 not reachable.
`;

const CODE_AGAIN = `keibidrop: The other side no longer recognized this computer, so the code was used again.
If nothing was reset there, an attacker on the network may be the cause: ask for a new code.
`;

export const command: CliCommand<ConnectCommand> = { name: 'connect', declare, run };

function declare(command: Command, onRun: OnRun<ConnectCommand>): void {
  command
    .summary('connect to a shared folder')
    .description('Connect to a folder that is shared with a code, or that a contact shares with you.')
    .usage('[options] [CODE|CONTACT]')
    .argument(
      '[code or contact...]',
      'the code, such as 7-guitar-pencil, or a contact; - reads a code from standard input',
    )
    .addOption(new Option('--connect <host:port>', "the sharer's address").conflicts('relayOnly'))
    .addOption(new Option('--leave <share>', 'disconnect from this share'))
    .addOption(new Option('--timeout <time>', 'give up after this, such as 30s or 10m'));
  addEverywhereOptions(command)
    .addHelpText('after', AFTER_HELP)
    .action((words: string[], typed: ConnectCommand) => onRun(parseConnect(words, typed)));
}

/** @throws USAGE, CODE_MALFORMED */
function parseConnect(words: string[], typed: ConnectCommand): ConnectCommand {
  if (words.length === 0) return typed;
  if (typed.leave !== undefined) throw new KeibiError('USAGE', '--leave takes no code or contact beside the share');
  const text = words.join(' ');
  if (text === '-') return { ...typed, codeFromStdin: true };
  return /^\d/.test(text) ? { ...typed, code: parseCode(text) } : { ...typed, contact: text };
}

/** @throws NOT_A_SHARE, SHARE_UNKNOWN; errors of meeting a peer; DAEMON_* */
async function run(options: ConnectCommand, caller: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, rendezvous, discovery, limit, connect, contact, leave, json, quiet } = options;
  const code = await codeOf(options, caller);
  const io = limited(caller, options.timeout, 'Check that the other side still shares, and try again.');
  const flags = { config, rendezvous, discovery, limit, connect };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });
  return withDaemon(io, peer, { config, start: leave === undefined }, async (daemon) => {
    if (leave !== undefined) {
      const { share } = await daemon.call('endShare', { share: leave }, io);
      if (json) io.stdout.write(lineOf('left', { name: share?.name }));
      else if (!quiet) io.stdout.write(`Left ${quoted(leave)}.\n`);
      return 0;
    }
    const request = { code: code?.text ?? '', contact, connect, reach: daemonReach(options, settings) };
    const { share } = await daemon.call('connect', request, io);
    if (share === undefined) throw new KeibiError('DAEMON_INCOMPATIBLE');
    if (json) io.stdout.write(lineOf('share', share));
    else if (!quiet) io.stdout.write(sentenceOf(share));
    if (share.codeAgain && !json) io.stderr.write(CODE_AGAIN);
    return 0;
  });
}

async function codeOf(
  { code, contact, leave, codeFromStdin = false }: ConnectCommand,
  io: Io,
): Promise<Code | undefined> {
  return code ?? (contact === undefined && leave === undefined ? givenCode(codeFromStdin, io, 'connect') : undefined);
}

function sentenceOf({ name, contact, peer = '', path, suite, readOnly }: ShareView): string {
  const how = readOnly ? ', read-only' : '';
  return `Connected to ${quoted(name)} of ${harmless(contact ?? peer)} (${path}, ${suite}${how}).\nSee what is in it: keibidrop list ${harmless(name)}\n`;
}
