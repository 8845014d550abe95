// SPDX-License-Identifier: MPL-2.0
import { join } from 'node:path';
import type { ReceiveRequest } from '@keibidrop/daemon';
import type { OfferSummary, ReceiveOptions } from '@keibidrop/peer';
import { type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import type { Settings } from '@keibidrop/settings';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { daemonReach, handOver } from '../daemon/background.ts';
import { nearbySenders } from '../display/nearby-senders.ts';
import { folderName, receivedSummary, reportOutcome } from '../display/outcome.ts';
import { askAboutCollision, askAboutOffer, createCollisionPolicy } from '../display/prompts.ts';
import { createView } from '../display/view.ts';
import { addEverywhereOptions, type Everywhere, reachOf, recordOf } from '../options/everywhere.ts';
import { assertCodeComes, givenCode } from '../options/given-code.ts';
import { addSaveOptions, openIntroduction, type SaveFlags, unlockForContacts } from '../options/introduction.ts';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { PauseKey } from '../terminal/pause-key.ts';

/** `keibidrop receive`, parsed. */
export interface ReceiveCommand extends Everywhere, SaveFlags {
  /** Undefined: read from standard input or KD_CODE, or asked for. */
  code?: Code;
  codeFromStdin?: boolean;
  out?: string;
  connect?: string;
  yes: boolean;
  collisions: ReceiveOptions['collisions'];
  verify?: boolean;
  durable?: boolean;
  patience?: string;
  stdout?: boolean;
  /** Hand the receive over to the daemon. */
  background?: boolean;
  incognito?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop receive                     list senders nearby; ask for the code
  keibidrop receive 7-guitar-pencil
  keibidrop receive 7-guitar-pencil --out ~/Downloads --yes
  keibidrop receive 7-guitar-pencil --connect 192.168.1.7:26431
  keibidrop receive 7-guitar-pencil --stdout | tar x

Other users of this machine can read the arguments of a process. To hide the
code from them, type it when asked, set KD_CODE, or use - and standard input.

A file with the same size and time is skipped. If another file has its name, it
is saved as "name (1).ext", unless --overwrite, --skip or --ask is given. A lost
connection is restored automatically; p pauses and resumes. If interrupted, run
the same command again to resume.

Environment: KD_CODE KD_SAVE_PATH KD_RENDEZVOUS KD_DISCOVERY KD_PATIENCE
KD_CONFIG_DIR KD_LOG
Exit codes: 0 done, 1 failed, 2 usage, 3 refused or wrong code, 4 not reachable,
5 interrupted but resumable, 70 a bug of ours, 130 Ctrl-C.
`;

export const command: CliCommand<ReceiveCommand> = { name: 'receive', declare, run };

function declare(command: Command, onRun: OnRun<ReceiveCommand>): void {
  command
    .summary('receive files with a code')
    .description('Receive files with a code. Asks before anything is written.')
    .usage('[options] [CODE]')
    .argument('[code...]', 'the code, such as 7-guitar-pencil; - reads it from standard input, none asks for it')
    .addOption(new Option('-o, --out <dir>', 'put files here (default: KD_SAVE_PATH, else the current folder)'))
    .addOption(new Option('--connect <host:port>', "the sender's address").conflicts('relayOnly'))
    .addOption(new Option('-y, --yes', 'receive without asking'))
    .addOption(new Option('--overwrite', 'replace files of the same name').conflicts(['skip', 'ask']))
    .addOption(new Option('--skip', 'keep files of the same name').conflicts('ask'))
    .addOption(new Option('--ask', 'ask about each file of the same name').conflicts(['json', 'stdout']))
    .addOption(new Option('--verify', 'compare files here with the sender; replace damaged ones'))
    .addOption(new Option('--durable', 'finish only once the files would survive a power cut'))
    .addOption(new Option('--patience <time>', 'how long to retry a lost sender, or 0 (24h)'))
    .addOption(
      new Option('--stdout', 'write files to standard output; a folder is refused').conflicts([
        'json',
        'out',
        'durable',
      ]),
    )
    .addOption(new Option('--background', 'hand it over to the daemon; starts one if needed').conflicts('stdout'))
    .addOption(new Option('--incognito', 'store nothing except the received files'));
  addEverywhereOptions(addSaveOptions(command))
    .addHelpText('after', AFTER_HELP)
    .action((words: string[], typed: TypedReceive) => onRun(parseReceive(words, typed)));
}

/** The options as commander returns them. */
type TypedReceive = Omit<ReceiveCommand, 'code' | 'collisions' | 'yes'> & {
  yes?: boolean;
  overwrite?: boolean;
  skip?: boolean;
  ask?: boolean;
};

/** @throws USAGE, CODE_MALFORMED */
function parseReceive(words: string[], typed: TypedReceive): ReceiveCommand {
  const { overwrite, skip, ask, yes, ...rest } = typed;
  const collisions = overwrite ? 'overwrite' : skip ? 'skip' : ask ? 'ask' : 'rename';
  const code = codeOf(words);
  return { ...rest, ...code, yes: yes === true, collisions };
}

/** @throws CODE_MALFORMED */
function codeOf(words: string[]): { code?: Code; codeFromStdin?: boolean } {
  if (words.length === 0) return {};
  return words.length === 1 && words[0] === '-' ? { codeFromStdin: true } : { code: parseCode(words.join(' ')) };
}

/**
 * Receives once; resolves with the exit code.
 *
 * @throws KeibiError that ended the receive; `io.signal.reason`
 */
async function run(typed: ReceiveCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  if (typed.code === undefined) assertCodeComes(typed.codeFromStdin === true, io);
  if (!typed.background) assertMayAsk(typed, io);
  const { config, rendezvous, discovery, limit, patience, out, connect } = typed;
  const flags = { config, rendezvous, discovery, limit, patience, out, connect };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });
  const options = { ...typed, code: typed.code ?? (await codeFrom(typed, settings, io, peer)) };
  if (options.background) return receiveInBackground(options, settings, io, peer);
  const save = await openIntroduction(options, io, peer, settings.configDir);

  const view = createView(io, peer, { ...options, role: 'receive' });
  const keys = new PauseKey(io, peer, options);
  const ask = <T>(question: () => Promise<T>) => view.during(() => keys.during(question));
  const policy = createCollisionPolicy((path) => ask(() => askAboutCollision(path, io)));
  try {
    const confirm = (offer: OfferSummary) =>
      ask(() => askAboutOffer(offer, io, { destination: destinationOf(), peer }));
    const record = recordOf(options, settings, peer, { kind: 'receive', place: destinationOf() ?? '' });
    const result = await record(
      (event) => view.onEvent(event),
      (onEvent) =>
        peer.receive({
          ...reachOf(options, settings),
          code: options.code,
          out: settings.savePath,
          toStdout: options.stdout,
          connect: settings.connect,
          addressFile: options.incognito ? undefined : join(settings.configDir, 'addresses.json'),
          collisions: options.collisions,
          verify: options.verify,
          durable: options.durable,
          patienceMs: settings.patienceMs,
          confirm: options.yes ? undefined : confirm,
          resolveCollision: options.collisions === 'ask' ? policy : undefined,
          save,
          pausing: keys.pausing,
          signal: io.signal,
          onEvent,
        }),
    );
    view.end();
    return reportOutcome(result, io, {
      ...options,
      summary: result.text === undefined ? receivedSummary(result, placeOf(destinationOf())) : '',
    });
  } finally {
    save?.self.wipe();
    keys.close();
    view.end();
  }

  function placeOf(destination: string | undefined): string | undefined {
    return destination === undefined ? undefined : folderName(destination, io);
  }

  function destinationOf(): string | undefined {
    return options.stdout ? undefined : settings.savePath;
  }
}

/** Lists the senders nearby while it asks. @throws as `givenCode` */
async function codeFrom(
  { codeFromStdin }: ReceiveCommand,
  settings: Settings,
  io: Io,
  peer: PeerPackage,
): Promise<Code> {
  const nearby = nearbySenders(peer, { ...settings, signal: io.signal });
  try {
    return await givenCode(codeFromStdin === true, io, 'receive', nearby.tellTo);
  } finally {
    nearby.end();
  }
}

/** @throws USAGE if a question is possible but no user can answer it */
function assertMayAsk(options: ReceiveCommand, io: Io): void {
  if (!options.yes && options.json) {
    throw new KeibiError('USAGE', 'With --json the command cannot ask whether to receive: add --yes.');
  }
  if (!options.yes && !io.canAsk) {
    throw new KeibiError('USAGE', 'There is no terminal to ask whether to receive: add --yes.');
  }
  if (options.collisions === 'ask' && !io.canAsk) {
    throw new KeibiError(
      'USAGE',
      'There is no terminal for --ask: use --overwrite or --skip, or leave it out to rename.',
    );
  }
}

/** Hands a receive over to the daemon. */
async function receiveInBackground(
  options: ReceiveCommand & { code: Code },
  settings: Settings,
  io: Io,
  peer: PeerPackage,
): Promise<number> {
  const { code, connect, yes, collisions, verify = false, durable = false, incognito = false } = options;
  const request: Partial<ReceiveRequest> = {
    code: code.text,
    out: settings.savePath,
    connect,
    yes,
    collisions,
    verify,
    durable,
    patienceMs: settings.patienceMs,
    incognito,
    save: options.save,
    reach: daemonReach(options, settings),
  };
  return handOver({ ...options, asks: !yes }, io, peer, async (daemon) => {
    await unlockForContacts(daemon, options, io);
    return (await daemon.call('receive', request, { signal: io.signal })).transfer;
  });
}
