// SPDX-License-Identifier: MPL-2.0
import type { CliCommand } from './command.ts';
import { command as add } from './commands/add.ts';
import { command as bench } from './commands/bench.ts';
import { command as connect } from './commands/connect.ts';
import { command as contacts } from './commands/contacts.ts';
import { command as daemon } from './commands/daemon.ts';
import { command as desktop } from './commands/desktop.ts';
import { command as doctor } from './commands/doctor.ts';
import { command as history } from './commands/history.ts';
import { command as id } from './commands/id.ts';
import { command as integrate } from './commands/integrate.ts';
import { command as invitations } from './commands/invitations.ts';
import { command as list } from './commands/list.ts';
import { command as mcp } from './commands/mcp.ts';
import { command as mount } from './commands/mount.ts';
import { command as peers } from './commands/peers.ts';
import { command as pull } from './commands/pull.ts';
import { command as receive } from './commands/receive.ts';
import { command as relay } from './commands/relay.ts';
import { command as send } from './commands/send.ts';
import { command as share } from './commands/share.ts';
import { command as status } from './commands/status.ts';
import { command as stop } from './commands/stop.ts';
import { command as transfers } from './commands/transfers.ts';
import { command as ui } from './commands/ui.ts';
import { command as unmount } from './commands/unmount.ts';
import { command as completion } from './completion/command.ts';

/** Every command, in the groups and the order of `keibidrop --help`. */
export const COMMANDS: Readonly<Record<string, readonly CliCommand<unknown>[]>> = {
  Transfer: [send, receive, peers],
  Folders: [share, add, connect, list, pull, mount, unmount],
  People: [contacts, invitations, id],
  Background: [transfers, history, ui, desktop, integrate, completion, daemon, status, stop, mcp],
  Server: [relay],
  Diagnosis: [doctor, bench],
};
