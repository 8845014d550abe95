// SPDX-License-Identifier: MPL-2.0
import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SendRequest } from '@keibidrop/daemon';
import { type Code, KeibiError, MAX_TEXT_BYTES, messageFor, parseCode } from '@keibidrop/protocol';
import type { Settings } from '@keibidrop/settings';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { daemonReach, handOver } from '../daemon/background.ts';
import { type CodeExtras, showCodeExtras } from '../display/code-extras.ts';
import { reportOutcome, sentSummary } from '../display/outcome.ts';
import { showSendPlan } from '../display/send-plan.ts';
import { createView } from '../display/view.ts';
import { addEverywhereOptions, type Everywhere, reachOf, recordOf } from '../options/everywhere.ts';
import { textOf } from '../options/given-code.ts';
import { addSaveOptions, openIntroduction, type SaveFlags, unlockForContacts } from '../options/introduction.ts';
import { knownPassphrase } from '../options/passphrases.ts';
import { addSelectionOptions, type SelectionFlags, selectionOf } from '../options/selection-options.ts';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { PauseKey } from '../terminal/pause-key.ts';
import { quoted } from '../terminal/terminal-text.ts';

/** `keibidrop send`, parsed. Exactly one of `paths` (not empty), `stdin`, `text` and `clipboard` is set. */
export interface SendCommand extends Everywhere, SaveFlags, CodeExtras, SelectionFlags {
  paths: string[];
  stdin: boolean;
  text?: string;
  /** Send the text on the clipboard. */
  clipboard?: boolean;
  code?: Code;
  codeLength?: string;
  insecureCode?: boolean;
  listen?: string;
  /** Number of receivers after which the command ends; 0: it runs until Ctrl-C. */
  receivers: number;
  /** Hand the send over to the daemon. */
  background?: boolean;
  /** With `background`: start at once, ahead of queued sends. */
  now?: boolean;
  dryRun?: boolean;
  incognito?: boolean;
  /** Names of contacts to invite; no code is shown then. */
  to?: string[];
  /** How long to wait for an absent contact. */
  patience?: string;
}

const AFTER_HELP = `
Examples:
  keibidrop send photos movie.mkv
  keibidrop send --text 'the door code is 4711'
  tar c photos | keibidrop send -
  keibidrop send report.pdf --receivers 3
  keibidrop send report.pdf --qr --copy
  keibidrop send project --gitignore --exclude .git --dry-run
  keibidrop send backup --json --code 7-guitar-pencil --listen 127.0.0.1:26431
  keibidrop send photos --to Anna --to Bea
  keibidrop send --clipboard --to Anna

Standard input (-) can be read once, so it goes to exactly one receiver. Pipes,
sockets and devices are not files: write their bytes to keibidrop send -.

The offer ends after --receivers receivers or three wrong guesses of its code.
With --to there is no code: each contact is asked once online, and gets its own
transfer. On a terminal p pauses and resumes. If interrupted, send again and
receive into the same folder to resume.

Environment: KD_LISTEN KD_RENDEZVOUS KD_DISCOVERY KD_CONFIG_DIR KD_LOG
Exit codes: 0 done, 1 failed, 2 usage, 3 refused, 4 not reachable, 5 interrupted
but resumable, 70 a bug of ours, 130 Ctrl-C.
`;

/** With these no person looks at a code. */
const NO_EXTRAS = ['json', 'to', 'background', 'quiet'];

/** With a text nothing is left out. The daemon does not know the options yet. */
const NOT_FILES = ['text', 'clipboard', 'background'];

export const command: CliCommand<SendCommand> = { name: 'send', declare, run };

function declare(command: Command, onRun: OnRun<SendCommand>): void {
  command
    .summary('offer files and print a code for the receiver')
    .description('Offer files and folders, and print a code for the receiver.')
    .argument('[paths...]', 'files and folders, or - for standard input')
    .addOption(new Option('--text <text>', 'send this text instead of files; - reads it from standard input'))
    .addOption(new Option('--clipboard', 'send the text on the clipboard').conflicts('text'))
    .addOption(new Option('--code <code>', 'use this code instead of a new one'))
    .addOption(new Option('--code-length <words>', 'words of a new code, 2 to 16 (2)').conflicts('code'))
    .addOption(new Option('--insecure-code', 'accept a --code that is easy to guess'))
    .addOption(new Option('--qr', 'show the code as a QR code, too').conflicts(NO_EXTRAS))
    .addOption(new Option('--copy', 'copy the code to the clipboard').conflicts(NO_EXTRAS))
    .addOption(new Option('--listen <host:port>', 'listen here (port 26431, or any free port)'))
    .addOption(new Option('--receivers <n>', 'end after this many receivers, 0 for no limit (1)').conflicts('to'))
    .addOption(
      new Option('--to <contact>', 'send to this contact, without a code; repeatable')
        .argParser((name: string, before: string[] = []) => [...before, name])
        .conflicts(['code', 'codeLength', 'insecureCode', 'save']),
    )
    .addOption(
      new Option('--patience <time>', 'how long to wait for an offline contact, such as 10m (no limit)').conflicts(
        'background',
      ),
    )
    .addOption(new Option('--background', 'hand it over to the daemon; starts one if needed'))
    .addOption(new Option('--now', 'with --background: start at once, ahead of queued sends'))
    .addOption(new Option('--incognito', 'store nothing: no history, no queue'))
    .addOption(new Option('--dry-run', 'only show what would be sent; with --verbose every path').conflicts(NOT_FILES));
  addEverywhereOptions(addSaveOptions(addSelectionOptions(command, NOT_FILES)))
    .addHelpText('after', AFTER_HELP)
    .action((paths: string[], typed: TypedSend) => onRun(parseSend(paths, typed)));
}

/** The options as commander returns them. */
type TypedSend = Omit<SendCommand, 'paths' | 'stdin' | 'code' | 'receivers'> & { code?: string; receivers?: string };

/** @throws USAGE, CODE_MALFORMED */
function parseSend(paths: string[], typed: TypedSend): SendCommand {
  const stdin = paths.includes('-');
  const hasText = typed.text !== undefined || typed.clipboard === true;
  if (hasText && paths.length > 0) throw usage('Send either a text or files, not both.');
  if (typed.text === '') throw usage('--text is empty, so there is nothing to send.');
  if (stdin && paths.length > 1) throw usage('Standard input (-) is sent alone: leave out the other paths.');
  if (!hasText && paths.length === 0) {
    throw usage('Name files or folders to send, for example: keibidrop send photos movie.mkv');
  }
  if (stdin && typed.to !== undefined && typed.to.length > 1) {
    throw usage('Standard input (-) can be read once, so send it to one contact.');
  }
  if (typed.to === undefined && typed.patience !== undefined) throw usage('--patience is for contacts: add --to NAME.');
  const { code, receivers = '1', ...rest } = typed;
  if (typed.save !== undefined && receivers !== '1') throw usage('--save stores one receiver: leave out --receivers.');
  if (!/^\d{1,6}$/.test(receivers)) {
    throw usage(`--receivers must be a number of receivers, or 0 for no limit; it is ${quoted(receivers)}.`);
  }
  if (stdin && Number(receivers) !== 1) {
    throw usage('Standard input (-) can be read once, so it has one receiver: leave out --receivers.');
  }
  const chooses = rest.dryRun || rest.gitignore || rest.exclude !== undefined || rest.excludeFrom !== undefined;
  if (stdin && chooses)
    throw usage('Standard input (-) is sent whole: leave out --dry-run, --exclude and --gitignore.');
  if (rest.background && stdin) throw usage('Standard input (-) cannot be sent in the background.');
  if (rest.now && !rest.background) throw usage('--now is for --background.');
  const parsedCode = code === undefined ? {} : { code: parseCode(code) };
  return { ...rest, ...parsedCode, paths: stdin ? [] : paths, stdin, receivers: Number(receivers) };
}

function usage(message: string): KeibiError {
  return new KeibiError('USAGE', message);
}

/**
 * Offers and serves; resolves with the exit code once the last receiver is served.
 *
 * @throws KeibiError that ended the send; `io.signal.reason`
 */
async function run(typed: SendCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const options = { ...typed, ...(await textOutside(typed, io)) };
  const { config, rendezvous, discovery, limit, listen, codeLength, patience } = options;
  const flags = { config, rendezvous, discovery, limit, listen, codeLength, patience };
  const settings = await peer.loadSettings({ flags, env: io.env, cwd: io.cwd });
  await assertSourcesExist(options.paths, io.cwd);
  const selection = await selectionOf(options, io);
  if (options.dryRun) return showSendPlan({ ...options, selection }, io, peer);
  if (options.background) return sendInBackground(options, settings, io, peer);
  const save = await openIntroduction(options, io, peer, settings.configDir);

  const { to: names, text, receivers: asked } = options;
  const receivers = names?.length ?? asked;
  const view = createView(io, peer, { ...options, receivers, role: 'send' });
  const keys = new PauseKey(io, peer, options);
  let extras: Promise<void> | undefined;
  const offer = {
    ...reachOf(options, settings),
    paths: options.paths,
    stdin: options.stdin,
    text,
    selection,
    listen: settings.listen,
    pausing: keys.pausing,
    signal: io.signal,
  };
  try {
    const paths = options.paths.map((path) => resolve(io.cwd, path));
    const record = recordOf(options, settings, peer, {
      kind: 'send',
      what: options.stdin ? 'standard input' : peer.offeredBy({ paths, text }),
      place: peer.placeOf(paths),
    });
    const result = await record(
      (event) => {
        view.onEvent(event);
        if (event.type === 'code') extras = showCodeExtras(event.code, options, io, view.notes);
      },
      (onEvent) =>
        names === undefined
          ? peer.send({
              ...offer,
              code: options.code,
              wordCount: settings.codeLength,
              insecureCode: options.insecureCode,
              receivers,
              save,
              onEvent,
            })
          : peer.sendToContacts({
              ...offer,
              names,
              directory: settings.configDir,
              // KD_PATIENCE applies to lost senders only.
              patienceMs: patience === undefined ? undefined : settings.patienceMs,
              askPassphrase: () => knownPassphrase(options.passphraseFile, io),
              onEvent,
            }),
    );
    await extras;
    view.end();
    return reportOutcome(result, io, { ...options, summary: sentSummary(result, options.text !== undefined) });
  } finally {
    save?.self.wipe();
    keys.close();
    view.end();
  }
}

/** Checks the paths before a receiver waits. @throws TRANSFER_SOURCE_MISSING naming the first missing paths */
async function assertSourcesExist(paths: readonly string[], cwd: string): Promise<void> {
  const missing: string[] = [];
  for (const path of paths) {
    await lstat(resolve(cwd, path)).catch((error: NodeJS.ErrnoException) => {
      // Other errors, such as an unreadable folder, are reported when it is read.
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') missing.push(path);
    });
  }
  if (missing.length === 0) return;
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : '';
  const names = missing.slice(0, 3).map(quoted).join(', ') + more;
  throw new KeibiError('TRANSFER_SOURCE_MISSING', messageFor('TRANSFER_SOURCE_MISSING', names));
}

/** Reads a text from standard input or the clipboard. @throws USAGE, TRANSFER_LIMIT_EXCEEDED */
async function textOutside({ clipboard, text }: SendCommand, io: Io): Promise<{ text?: string }> {
  if (clipboard) return { text: await clipboardText(io) };
  if (text !== '-') return {};
  const read = await textOf(io.pipes.input, MAX_TEXT_BYTES, io.signal);
  if (read === '') throw usage('Standard input is empty, so there is nothing to send.');
  return { text: read };
}

/** Imported on demand. */
async function clipboardText(io: Io): Promise<string> {
  const { readClipboard } = await import('../terminal/clipboard.ts');
  return readClipboard(io);
}

/** Hands a send over to the daemon and prints its code. @throws the error of a send that fails before it has a code */
async function sendInBackground(options: SendCommand, settings: Settings, io: Io, peer: PeerPackage): Promise<number> {
  const { text, code, insecureCode = false, listen, receivers, now = false, incognito = false } = options;
  const request: Partial<SendRequest> = {
    paths: options.paths.map((path) => resolve(io.cwd, path)),
    text,
    code: code?.text,
    wordCount: settings.codeLength,
    insecureCode,
    listen,
    receivers,
    to: options.to ?? [],
    now,
    incognito,
    save: options.save,
    reach: daemonReach(options, settings),
  };
  return handOver({ ...options, coded: options.to === undefined }, io, peer, async (daemon) => {
    await unlockForContacts(daemon, options, io);
    return (await daemon.call('send', request, { signal: io.signal })).transfer;
  });
}
