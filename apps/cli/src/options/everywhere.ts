// SPDX-License-Identifier: MPL-2.0
import type { PeerEvent, TransferSummary } from '@keibidrop/peer';
import type { Suite } from '@keibidrop/protocol';
import type { Settings } from '@keibidrop/settings';
import { type Command, Option } from 'commander';
import type { PeerPackage } from '../peer-package.ts';

/** The options that every command about a transfer takes (docs/cli.md), as typed. */
export interface Everywhere {
  rendezvous?: string;
  discovery?: string;
  directOnly?: boolean;
  relayOnly?: boolean;
  limit?: string;
  config?: string;
  suite?: Suite;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

export function addEverywhereOptions(command: Command): Command {
  return command
    .optionsGroup('Everywhere:')
    .addOption(new Option('--rendezvous <host:port|url>', 'meet at this server'))
    .addOption(new Option('--discovery <auto|off|iface>', 'networks to search for peers'))
    .addOption(new Option('--direct-only', 'never use a relay').conflicts('relayOnly'))
    .addOption(new Option('--relay-only', 'use only the relay of the rendezvous'))
    .addOption(new Option('--limit <rate>', 'bytes per second, such as 500K or 10M (K = 1024)'))
    .addOption(new Option('--suite <name>', 'force a cipher').choices(['aes-256-gcm', 'chacha20-poly1305']))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object per line on stdout'))
    .addOption(new Option('-q, --quiet', 'print only results, questions and errors').conflicts('verbose'))
    .addOption(new Option('-v, --verbose', 'print each completed file, and connection details'));
}

/** Options from flags and settings that sends and receives share. */
export function reachOf(options: Everywhere, settings: Settings) {
  return {
    suite: options.suite,
    limitBytesPerSecond: settings.limitBytesPerSecond,
    label: settings.label,
    verbose: options.verbose,
    reach: {
      rendezvous: settings.rendezvous,
      discovery: settings.discovery,
      directOnly: options.directOnly === true,
      relayOnly: options.relayOnly === true,
    },
  };
}

type Record = <T extends TransferSummary>(
  onEvent: (event: PeerEvent) => void,
  run: (onEvent: (event: PeerEvent) => void) => Promise<T>,
) => Promise<T>;

/** Runs a transfer and records it in the history, unless it is incognito. */
export function recordOf(
  { incognito }: { incognito?: boolean },
  { configDir, history: limits }: Settings,
  peer: Pick<PeerPackage, 'recording' | 'stateDirOf'>,
  about: { kind: 'send' | 'receive'; what?: string; place: string },
): Record {
  if (incognito) return (onEvent, run) => run(onEvent);
  return (onEvent, run) => peer.recording({ ...about, stateDir: peer.stateDirOf(configDir), limits, onEvent }, run);
}
