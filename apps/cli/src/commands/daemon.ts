// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { install, type LoginStart, loginStartOf, startUnit, uninstall } from '../daemon/login-start.ts';
import { systemdUnit } from '../daemon/systemd-unit.ts';
import { lineOf } from '../display/json-lines.ts';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';
import { VERSION } from '../version.ts';

/** `keibidrop daemon`, parsed. */
export interface DaemonCommand {
  rendezvous?: string;
  discovery?: string;
  limit?: string;
  listen?: string;
  /** Print a unit for systemd instead. */
  systemd?: boolean;
  /** Start the daemon at each login, and now. */
  install?: boolean;
  /** Undo `install`. */
  uninstall?: boolean;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop daemon
  keibidrop daemon --rendezvous relay.example.org:26431
  keibidrop daemon --install            start it now, and at each login

Commands that need the daemon start it. Each --config directory has its own, and
only its user can reach it. Unfinished transfers continue in the next daemon,
even after a kill. Ctrl-C or keibidrop stop ends it.
--install writes a user unit for systemd, or an entry in ~/.config/autostart
where systemd does not run. --uninstall removes it, and no other data.

Environment: KD_CONFIG_DIR KD_RENDEZVOUS KD_LISTEN KD_SAVE_PATH KD_DISCOVERY
Exit codes: 0 stopped, 1 failed or one runs already, 2 usage, 70 a
bug of ours.
`;

export const command: CliCommand<DaemonCommand> = { name: 'daemon', declare, run };

function declare(command: Command, onRun: OnRun<DaemonCommand>): void {
  command
    .summary('run the daemon, which transfers in the background')
    .description('Run the daemon, which sends and receives in the background for this user’s programs.')
    .addOption(new Option('--rendezvous <host:port|url>', 'meet at this server'))
    .addOption(new Option('--discovery <auto|off|iface>', 'networks to search for peers'))
    .addOption(new Option('--listen <host:port>', 'where sends listen (port 26431, or any free port)'))
    .addOption(new Option('--limit <rate>', 'bytes per second of each transfer, such as 500K or 10M'))
    .addOption(new Option('--install', 'start it now and at each login').conflicts(['systemd', 'uninstall']))
    .addOption(new Option('--uninstall', 'do not start it at login any more').conflicts('systemd'))
    .addOption(new Option('--systemd', 'only print a user unit for systemd'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object per line on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((options: DaemonCommand) => onRun(options));
}

/**
 * Serves until stopped or interrupted; resolves with 0.
 *
 * @throws DAEMON_RUNNING, USAGE, CONFIG_INVALID
 */
async function run(options: DaemonCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { json, systemd, install: installs, uninstall: uninstalls, ...flags } = options;
  if (installs) return installDaemon(options, io, peer);
  if (uninstalls) return uninstallDaemon(options, io);
  if (systemd) {
    const { config } = options;
    io.stdout.write(systemdUnit(io.program, config === undefined ? undefined : resolve(io.cwd, config)));
    return 0;
  }
  const daemon = await peer.openDaemon({
    settings: { flags, env: io.env, cwd: io.cwd },
    version: VERSION,
    // The page lies beside the delivered program.
    pageDir: fileURLToPath(new URL('page', import.meta.url)),
    log: (line) => io.stderr.write(`${new Date().toISOString()} ${harmless(line)}\n`),
  });
  // The system that sends this signal kills the process next, so rely on the last saved state.
  const onInterrupt = () => void daemon.stop({ force: true });
  io.signal.addEventListener('abort', onInterrupt, { once: true });
  if (io.signal.aborted) onInterrupt();
  const { socket } = daemon.place;
  io.stdout.write(json ? lineOf('listening', { socket, pid: process.pid }) : `Listening at ${harmless(socket)}.\n`);
  await daemon.ended;
  if (json) io.stdout.write(lineOf('ended', {}));
  return 0;
}

/** Only a daemon with these flags of its own can be started at login: the others belong in config.toml. */
async function installDaemon({ config, json, ...flags }: DaemonCommand, io: Io, peer: PeerPackage): Promise<number> {
  const [other] = (['rendezvous', 'discovery', 'listen', 'limit'] as const).filter((name) => flags[name] !== undefined);
  if (other !== undefined) {
    throw new KeibiError('USAGE', `--install does not take --${other}. Write it to config.toml.`);
  }
  const configDir = config === undefined ? undefined : resolve(io.cwd, config);
  const start = await loginStartOf(io);
  await install(start, io, configDir);
  const running = await startedNow(start, config, io, peer);
  if (json) io.stdout.write(lineOf('installed', { ...start, running }));
  else {
    io.stdout.write(`Installed ${harmless(start.file)}.\n`);
    io.stdout.write(
      running ? 'The daemon runs, and starts at each login.\n' : 'The daemon starts at the next login.\n',
    );
  }
  return 0;
}

/** A daemon that already runs continues. */
async function startedNow(
  { kind }: LoginStart,
  config: string | undefined,
  io: Io,
  peer: PeerPackage,
): Promise<boolean> {
  const connect = (start: boolean) => withDaemon(io, peer, { config, start }, async () => true);
  if (kind === 'autostart') return connect(true);
  return connect(false).catch((reason: unknown) => {
    if (KeibiError.from(reason, 'INTERNAL').code !== 'DAEMON_UNREACHABLE') throw reason;
    return startUnit(io);
  });
}

async function uninstallDaemon({ json }: DaemonCommand, io: Io): Promise<number> {
  await loginStartOf(io);
  const removed = await uninstall(io);
  if (json) io.stdout.write(lineOf('uninstalled', { files: removed }));
  else if (removed.length === 0) io.stdout.write('Nothing is installed.\n');
  for (const file of json ? [] : removed) io.stdout.write(`Removed ${harmless(file)}.\n`);
  return 0;
}
