// SPDX-License-Identifier: MPL-2.0
import type { WaitingSender } from '@keibidrop/peer';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { formatCount } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import type { Io } from '../terminal/io.ts';

/** `keibidrop peers`, parsed. */
export interface PeersCommand {
  config?: string;
  discovery?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop peers
  keibidrop peers --discovery eth0
  keibidrop peers --json

A sender does not reveal its identity: its name is random for each offer, and
only its code connects to it. The search takes 3 seconds.

Environment: KD_DISCOVERY KD_CONFIG_DIR
Exit codes: 0 done, even if none is found; 1 failed, 2 usage, 130 Ctrl-C.
`;

export const command: CliCommand<PeersCommand> = { name: 'peers', declare, run };

function declare(command: Command, onRun: OnRun<PeersCommand>): void {
  command
    .summary('list senders waiting nearby')
    .description('List senders waiting on this machine and its networks.')
    .addOption(new Option('--discovery <auto|off|iface>', 'networks to search for peers'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object per line on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((options: PeersCommand) => onRun(options));
}

/**
 * Prints each sender when it is found; resolves with 0.
 *
 * @throws CONFIG_INVALID; `io.signal.reason`
 */
async function run(options: PeersCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, discovery, json } = options;
  const settings = await peer.loadSettings({ flags: { config, discovery }, env: io.env, cwd: io.cwd });
  const senders = new Set<string>();
  for await (const sender of peer.waitingSenders({ discovery: settings.discovery, signal: io.signal })) {
    senders.add(sender.name ?? sender.address);
    io.stdout.write(json ? lineOf('peer', sender) : lineForPeople(sender));
  }
  if (json) io.stdout.write(lineOf('peers', { senders: senders.size }));
  else
    io.stdout.write(senders.size === 0 ? 'No senders nearby.\n' : `${formatCount(senders.size, 'sender')} nearby.\n`);
  return 0;
}

function lineForPeople({ path, name = '', address }: WaitingSender): string {
  return `${path.padEnd(6)} ${address.padEnd(40)} ${name}`.trimEnd().concat('\n');
}
