// SPDX-License-Identifier: MPL-2.0
import type { BenchEvent } from '@keibidrop/peer';
import { type Code, KeibiError, parseCode, type Suite } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import { BenchReport, isFigure } from '../bench/bench-report.ts';
import { startSenderProcess } from '../bench/sender-process.ts';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { createView, type View } from '../display/view.ts';
import { parseSize } from '../options/size-option.ts';
import type { Io } from '../terminal/io.ts';

interface BenchFlags {
  dir?: string;
  suite?: Suite;
  rendezvous?: string;
  discovery?: string;
  config?: string;
  json?: boolean;
  quiet?: boolean;
}

/** `keibidrop bench`, parsed: this machine alone, waiting for a peer, or against a waiting peer. */
export type BenchCommand = BenchFlags &
  (
    | { mode: 'alone'; size: number }
    | { mode: 'wait'; size: number; code?: Code; codeLength?: string; insecureCode?: boolean; listen?: string }
    | { mode: 'against'; code: Code; connect?: string }
  );

const DEFAULT_SIZE = '256M';

const AFTER_HELP = `
Examples:
  keibidrop bench                       disk, cipher, socket, and the whole
  keibidrop bench --dir /mnt/usb --size 1G
  keibidrop bench --wait                on one computer, and on the other:
  keibidrop bench 7-guitar-pencil       the link, both disks, and the whole

Disk figures bypass the page cache if the file system allows it. The test files
hold random data, need twice --size of space, and are removed at the end.

Environment: KD_SAVE_PATH KD_LISTEN KD_RENDEZVOUS KD_DISCOVERY KD_CONFIG_DIR
Exit codes: 0 done, 1 failed, 2 usage, 3 refused or wrong code, 4 not reachable,
5 interrupted, 70 a bug of ours, 130 Ctrl-C.
`;

export const command: CliCommand<BenchCommand> = { name: 'bench', declare, run };

function declare(command: Command, onRun: OnRun<BenchCommand>): void {
  command
    .summary('measure this machine, or the link to a peer, and name the limit')
    .description('Measure disk, cipher, socket and the whole, alone or with a peer; name the limit.')
    .usage('[options] [CODE]')
    .argument('[code...]', 'the code of a waiting peer, such as 7-guitar-pencil')
    .addOption(new Option('--dir <dir>', 'write here (default: KD_SAVE_PATH, else the current folder)'))
    .addOption(new Option('--size <bytes>', `size of each file, 8M to 16G (${DEFAULT_SIZE})`))
    .addOption(new Option('--wait', 'print a code and wait for a peer'))
    .addOption(new Option('--code <code>', 'with --wait: use this code instead of a new one'))
    .addOption(new Option('--code-length <words>', 'with --wait: words of a new code, 2 to 16 (2)').conflicts('code'))
    .addOption(new Option('--insecure-code', 'with --wait: accept a --code that is easy to guess'))
    .addOption(new Option('--listen <host:port>', 'with --wait: listen here (port 26431, or a free one)'))
    .addOption(new Option('--connect <host:port>', 'with CODE: the address of the waiting peer'))
    .addOption(new Option('--suite <name>', 'force a cipher').choices(['aes-256-gcm', 'chacha20-poly1305']))
    .addOption(new Option('--rendezvous <host:port|url>', 'meet at this server'))
    .addOption(new Option('--discovery <auto|off|iface>', 'networks to search for peers'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object per line on stdout'))
    .addOption(new Option('-q, --quiet', 'print only results and errors'))
    .addHelpText('after', AFTER_HELP)
    .action((words: string[], typed: TypedBench) => onRun(parseBench(words, typed)));
}

/** The options as commander returns them. */
interface TypedBench extends BenchFlags {
  size?: string;
  wait?: boolean;
  code?: string;
  codeLength?: string;
  insecureCode?: boolean;
  listen?: string;
  connect?: string;
}

/** @throws USAGE, CODE_MALFORMED */
function parseBench(words: string[], typed: TypedBench): BenchCommand {
  const { size, wait, code, codeLength, insecureCode, listen, connect, ...flags } = typed;
  const ofWaiting = {
    '--code': code,
    '--code-length': codeLength,
    '--insecure-code': insecureCode,
    '--listen': listen,
  };
  const [misplaced] = Object.entries(ofWaiting).filter(([, value]) => value !== undefined && !wait);
  if (misplaced) throw usage(`${misplaced[0]} is for the waiting side: add --wait.`);
  if (words.length > 0) {
    if (wait) throw usage('Wait with --wait, or give the code of a waiting peer, not both.');
    if (size !== undefined) throw usage('--size is for the waiting side, which creates the test files.');
    return {
      ...flags,
      mode: 'against',
      code: parseCode(words.join(' ')),
      ...(connect === undefined ? {} : { connect }),
    };
  }
  if (connect !== undefined) throw usage('--connect needs the code that the waiting peer shows: keibidrop bench CODE.');
  const bytes = parseSize('--size', size ?? DEFAULT_SIZE);
  if (!wait) return { ...flags, mode: 'alone', size: bytes };
  const given = code === undefined ? {} : { code: parseCode(code) };
  return { ...flags, mode: 'wait', size: bytes, ...given, ...defined({ codeLength, insecureCode, listen }) };
}

function defined<T extends object>(fields: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function usage(message: string): KeibiError {
  return new KeibiError('USAGE', message);
}

/**
 * Runs the bench; resolves with the exit code.
 *
 * @throws KeibiError that ended the bench; `io.signal.reason`
 */
async function run(options: BenchCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, rendezvous, discovery, dir, suite } = options;
  const listen = options.mode === 'wait' ? options.listen : undefined;
  const codeLength = options.mode === 'wait' ? options.codeLength : undefined;
  const connect = options.mode === 'against' ? options.connect : undefined;
  const flags = { config, rendezvous, discovery, out: dir, listen, codeLength, connect };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });

  const view = createView(io, peer, { ...options, role: 'bench', receivers: 1 });
  const report = new BenchReport(io, options);
  // The speed limit of the settings does not apply: the bench measures the possible rate.
  const common = {
    dir: settings.savePath,
    suite,
    label: settings.label,
    reach: { rendezvous: settings.rendezvous, discovery: settings.discovery, directOnly: false, relayOnly: false },
    signal: io.signal,
    onEvent: (event: BenchEvent) => showEvent(event, view, report),
  };
  try {
    if (options.mode === 'alone') {
      const startSender = startSenderProcess.bind(undefined, io);
      await peer.benchAlone({ ...common, size: options.size, startSender });
    } else if (options.mode === 'against') {
      await peer.benchAgainst({ ...common, code: options.code, connect: settings.connect });
    } else {
      const { code, insecureCode, size } = options;
      const { listen, codeLength: wordCount } = settings;
      const result = await peer.waitForBench({ ...common, size, code, insecureCode, listen, wordCount });
      view.end();
      report.served(result.bytes);
    }
    return 0;
  } finally {
    view.end();
  }
}

function showEvent(event: BenchEvent, view: View, report: BenchReport): void {
  if (isFigure(event)) {
    // Ends the progress line, so that a row does not share it.
    view.end();
    report.show(event);
  } else {
    view.onEvent(event);
  }
}
