// SPDX-License-Identifier: MPL-2.0
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { lineOf } from '../display/json-lines.ts';
import { dialableAddress } from '../display/local-address.ts';
import type { Io } from '../terminal/io.ts';

/** `keibidrop relay`, parsed. */
export interface RelayCommand {
  listen?: string;
  redis?: string;
  advertise?: string;
  cert?: string;
  key?: string;
  mailboxes?: string;
  mailboxesPerNetwork?: string;
  pairs?: string;
  relayPerNetwork?: string;
  idle?: string;
  lifetime?: string;
  limit?: string;
  config?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop relay
  keibidrop relay --listen 0.0.0.0:26431
  KD_RENDEZVOUS=relay.example.org:26431 keibidrop send photos     elsewhere

It learns addresses and amounts, never words, names or content. A network is an
IPv4 address or the /64 of an IPv6 one. More limits, metrics, a systemd unit and
a container file: docs/relay.md.
The first Ctrl-C or SIGTERM refuses new connections and waits up to 5 minutes
for open ones; the second ends at once. The log is JSON lines on stderr.

Environment: KD_LISTEN KD_REDIS KD_CONFIG_DIR KD_LOG
Exit codes: 0 stopped, 1 failed, 2 usage, 70 a bug of ours, 130 ended
at once.
`;

export const command: CliCommand<RelayCommand> = { name: 'relay', declare, run };

function declare(command: Command, onRun: OnRun<RelayCommand>): void {
  command
    .summary('run a server through which computers meet')
    .description('Run a server through which computers meet, and which relays for those that cannot reach each other.')
    .addOption(new Option('--listen <host:port>', 'listen here (port 26431 of every address)'))
    .addOption(new Option('--redis <url>', 'share mailboxes with other servers through this Redis'))
    .addOption(new Option('--advertise <host:port>', 'address that reaches this server and no other'))
    .addOption(new Option('--cert <file>', 'serve TLS, too: certificate and chain, PEM'))
    .addOption(new Option('--key <file>', 'key of the certificate, PEM; SIGHUP reloads both'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object per line on stdout'))
    .addOption(new Option('-q, --quiet', 'log only errors').conflicts('verbose'))
    .addOption(new Option('-v, --verbose', 'log every connection'))
    .optionsGroup('Limits:')
    .addOption(new Option('--mailboxes <n>', 'most senders waiting at once (10000)'))
    .addOption(new Option('--mailboxes-per-network <n>', 'most senders waiting from one network (100)'))
    .addOption(new Option('--pairs <n>', 'most relayed pairs at once (5000)'))
    .addOption(new Option('--relay-per-network <n>', 'most relay connections from one network (340)'))
    .addOption(new Option('--idle <time>', 'end a pair that is idle this long (10m)'))
    .addOption(new Option('--lifetime <time>', 'end a pair after this (24h)'))
    .addOption(new Option('--limit <rate>', 'bytes per second of all pairs together (no limit)'))
    .addHelpText('after', AFTER_HELP)
    .action((options: RelayCommand) => onRun(options));
}

/**
 * Serves until interrupted, then drains; resolves with 0.
 *
 * @throws USAGE, CONFIG_INVALID (also for a port that cannot be bound)
 */
async function run(options: RelayCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { json, quiet, verbose, ...flags } = options;
  const settings = await peer.loadRelaySettings({ flags, env: io.env, cwd: io.cwd });
  const level = quiet ? 'error' : verbose ? 'debug' : io.env.KD_LOG ? settings.log : 'info';
  const server = await peer.openRelayServer({
    listen: settings.listen,
    redis: settings.redis,
    advertise: settings.advertise,
    limits: settings.limits,
    certificate: settings.certificate,
    log: { level, write: (line) => io.stderr.write(line) },
    signal: io.signal,
  });
  if (settings.certificate) io.onHangUp(() => server.reloadCertificate());
  try {
    const { host, port } = server;
    const peersDial = dialableAddress(host, port);
    if (json) io.stdout.write(lineOf('listening', { host, port }));
    else {
      io.stdout.write(`Listening on ${host}, port ${port}.\n`);
      if (peersDial !== undefined) io.stdout.write(`Peers use it with: KD_RENDEZVOUS=${peersDial}\n`);
    }
    await interrupted(io.signal);
    await server.drain();
    const { joined, bytes } = server.stats().relay;
    if (json) io.stdout.write(lineOf('ended', { joined, bytes }));
    return 0;
  } finally {
    await server.close();
  }
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
