// SPDX-License-Identifier: MPL-2.0
import type { ShareView } from '@keibidrop/peer';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import { daemonReach } from '../daemon/background.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { lineOf } from '../display/json-lines.ts';
import { addEverywhereOptions, type Everywhere } from '../options/everywhere.ts';
import { givenCode } from '../options/given-code.ts';
import { limited } from '../options/time-limit.ts';
import type { PeerPackage } from '../peer-package.ts';
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
  keibidrop connect                     asks for the code, Tab completes it
  keibidrop connect 7-guitar-pencil
  keibidrop connect 7-guitar-pencil --connect 192.168.1.7:26431
  keibidrop connect Anna                say yes to what Anna shares with you
  keibidrop list                        the shares that you are connected to
  keibidrop connect --leave photos

The daemon, which is started if need be, stays connected: it comes back after a
lost network, also when the other side was started anew with the same code.
It uses the code once. After that it comes by a secret of its own, also when
you connect again; only a share that has lost that secret needs the code again.

Other users of this machine can read the arguments of a process. Where there are
any, let it ask, or give the code in KD_CODE or, with -, on standard input.

Environment: KD_CODE KD_RENDEZVOUS KD_DISCOVERY KD_PATIENCE KD_CONFIG_DIR
Exit codes: 0 connected, 1 failed, 2 usage, or the code is of a transfer,
3 wrong code, 4 not reachable.
`;

const CODE_AGAIN = `keibidrop: The other side did not know this computer any more, so the code was used again.
If nothing was reset there, somebody on the way may have caused this: ask for a new code.
`;

export function addConnectCommand(program: Command, onRun: (options: ConnectCommand) => Promise<void>): void {
  const command = program
    .command('connect')
    .summary('connect to a shared folder')
    .description('Connect to a folder that is shared under a code, or by a contact with you.')
    .usage('[options] [CODE|CONTACT]')
    .argument('[code...]', 'the code, such as 7-guitar-pencil, or a contact; - reads a code from standard input')
    .addOption(new Option('--connect <host:port>', 'the address of who shares').conflicts('relayOnly'))
    .addOption(new Option('--leave <share>', 'end the connection to this share'))
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
export async function runConnect(options: ConnectCommand, caller: Io, peer: PeerPackage): Promise<number> {
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
