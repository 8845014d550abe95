// SPDX-License-Identifier: MPL-2.0
import type { LocalClient } from '@keibidrop/daemon';
import { KeibiError } from '@keibidrop/protocol';
import { Argument, type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { noteShown, reportEnded } from '../daemon/daemon-transfer.ts';
import { type Invitation, invitationsOf } from '../daemon/pending-invitations.ts';
import { lineOf } from '../display/json-lines.ts';
import { limited } from '../options/time-limit.ts';
import { type Io, paint } from '../terminal/io.ts';
import { harmless, quoted } from '../terminal/terminal-text.ts';

/** How long to wait for an accepted text; its sender is online. */
const TEXT_WAIT = '60s';
const ANSWERS = { accept: 'yes', decline: 'no' } as const;

/** `keibidrop invitations`, parsed. */
export interface InvitationsCommand {
  action?: keyof typeof ANSWERS;
  /** Undefined: the only pending one. */
  number?: number;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop invitations
  keibidrop invitations accept           if only one is pending
  keibidrop invitations decline 3

A contact's send waits here for your answer, unless a rule decides: see
keibidrop contacts rule. Accepted files go to the save path of the daemon; a
text is printed.

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 failed or no such invitation, 2 usage, 4 no daemon runs.
`;

export const command: CliCommand<InvitationsCommand> = { name: 'invitations', declare, run };

function declare(command: Command, onRun: OnRun<InvitationsCommand>): void {
  command
    .summary('list and answer invitations from contacts')
    .description('List what contacts offer to send or share, or answer an offer.')
    .addArgument(new Argument('[action]', 'the answer').choices(Object.keys(ANSWERS)))
    .argument('[number]', 'number of the invitation in the list')
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((action: InvitationsCommand['action'], number: string | undefined, options: InvitationsCommand) => {
      if (number !== undefined && !/^\d{1,9}$/.test(number)) {
        throw new KeibiError('USAGE', `Give the number of an invitation; ${quoted(number)} is not a number.`);
      }
      return onRun({ ...options, ...(action && { action }), ...(number !== undefined && { number: Number(number) }) });
    });
}

/** @throws DAEMON_UNREACHABLE, QUESTION_GONE, USAGE */
async function run(options: InvitationsCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, action, number, json } = options;
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    const invitations = await invitationsOf(daemon, io.signal);
    if (action === undefined) {
      io.stdout.write(json ? lineOf('invitations', { invitations }) : listOf(invitations, io));
      return 0;
    }
    const meant = theOne(invitations, number);
    const before = await daemon.call('transfers', {}, { signal: io.signal });
    await daemon.call('answer', { question: meant.number, answer: ANSWERS[action] }, { signal: io.signal });
    if (json) io.stdout.write(lineOf('invitation', { ...meant, action }));
    else if (action === 'decline') io.stdout.write(`Declined. ${harmless(meant.contact)} will be notified.\n`);
    else if (meant.to === 'text') return showText(daemon, meant, new Set(before.transfers.map(({ id }) => id)), io);
    else io.stdout.write(`Accepted. See keibidrop ${meant.to === 'share' ? 'list' : 'transfers'}.\n`);
    return 0;
  });
}

/** Waits for the accepted text and prints it. @returns  the exit code */
async function showText(
  daemon: LocalClient,
  { contact }: Invitation,
  before: ReadonlySet<number>,
  io: Io,
): Promise<number> {
  const limitedIo = limited(io, TEXT_WAIT, 'The text may still arrive: see keibidrop transfers.');
  for await (const { transfer, happened } of daemon.stream('watch', {}, { signal: limitedIo.signal })) {
    if (happened?.$case !== 'changed' || before.has(transfer)) continue;
    const view = happened.value;
    if (view.contact !== contact || view.ended === undefined) continue;
    const exit = reportEnded(view, io, { event: 'transfer' });
    await noteShown(daemon, [view], io.signal);
    return exit;
  }
  throw new KeibiError('DAEMON_LOST');
}

function theOne(invitations: readonly Invitation[], number: number | undefined): Invitation {
  const [first, second] = invitations;
  if (first === undefined)
    throw new KeibiError(
      'QUESTION_GONE',
      'There are no invitations. Questions of transfers are in keibidrop transfers.',
    );
  if (number === undefined && second === undefined) return first;
  const meant = invitations.find((each) => each.number === number);
  if (meant !== undefined) return meant;
  const text = number === undefined ? 'There are several invitations.' : `There is no invitation ${number}.`;
  throw new KeibiError(number === undefined ? 'USAGE' : 'QUESTION_GONE', `${text} See keibidrop invitations.`);
}

function listOf(invitations: readonly Invitation[], io: Io): string {
  if (invitations.length === 0) return 'There are no invitations.\n';
  const lines = invitations.map(({ number, contact, verified, to, label }) => {
    const who = `${harmless(contact)}${verified ? '' : ' (not verified)'}`;
    const what =
      to === 'share' ? `shares ${harmless(label)}` : to === 'text' ? 'sends a text' : `sends ${harmless(label)}`;
    return `${paint(io.stdout, 'bold', String(number).padStart(3))}  ${who} ${what}\n`;
  });
  return `${lines.join('')}To answer: keibidrop invitations accept ${invitations[0]?.number}, or decline.\n`;
}
