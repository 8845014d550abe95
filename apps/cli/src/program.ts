// SPDX-License-Identifier: MPL-2.0
import { Command } from 'commander';
import { type AddCommand, addAddCommand } from './commands/add.ts';
import { addBenchCommand, type BenchCommand } from './commands/bench.ts';
import { addConnectCommand, type ConnectCommand } from './commands/connect.ts';
import { addContactsCommand, type ContactsCommand } from './commands/contacts.ts';
import { addDaemonCommand, type DaemonCommand } from './commands/daemon.ts';
import { addDoctorCommand, type DoctorCommand } from './commands/doctor.ts';
import { addHistoryCommand, type HistoryCommand } from './commands/history.ts';
import { addIdCommand, type IdCommand } from './commands/id.ts';
import { addInvitationsCommand, type InvitationsCommand } from './commands/invitations.ts';
import { addListCommand, type ListCommand } from './commands/list.ts';
import { addMcpCommand, type McpCommand } from './commands/mcp.ts';
import { addMountCommand, addUnmountCommand, type MountCommand, type UnmountCommand } from './commands/mount.ts';
import { addPeersCommand, type PeersCommand } from './commands/peers.ts';
import { addPullCommand, type PullCommand } from './commands/pull.ts';
import { addReceiveCommand, type ReceiveCommand } from './commands/receive.ts';
import { addRelayCommand, type RelayCommand } from './commands/relay.ts';
import { addSendCommand, type SendCommand } from './commands/send.ts';
import { addShareCommand, type ShareCommand } from './commands/share.ts';
import { addStatusCommand, addStopCommand, type StatusCommand } from './commands/status.ts';
import { addTransfersCommand, type TransfersCommand } from './commands/transfers.ts';
import { addUiCommand, type UiCommand } from './commands/ui.ts';
import type { Io } from './terminal/io.ts';
import { VERSION } from './version.ts';

/** One handler for each parsed command. */
export interface Handlers {
  send(options: SendCommand): Promise<void>;
  receive(options: ReceiveCommand): Promise<void>;
  share(options: ShareCommand): Promise<void>;
  connect(options: ConnectCommand): Promise<void>;
  mount(options: MountCommand): Promise<void>;
  unmount(options: UnmountCommand): Promise<void>;
  list(options: ListCommand): Promise<void>;
  pull(options: PullCommand): Promise<void>;
  add(options: AddCommand): Promise<void>;
  bench(options: BenchCommand): Promise<void>;
  peers(options: PeersCommand): Promise<void>;
  contacts(options: ContactsCommand): Promise<void>;
  id(options: IdCommand): Promise<void>;
  relay(options: RelayCommand): Promise<void>;
  daemon(options: DaemonCommand): Promise<void>;
  status(options: StatusCommand): Promise<void>;
  stop(options: StatusCommand): Promise<void>;
  transfers(options: TransfersCommand): Promise<void>;
  invitations(options: InvitationsCommand): Promise<void>;
  history(options: HistoryCommand): Promise<void>;
  ui(options: UiCommand): Promise<void>;
  mcp(options: McpCommand): Promise<void>;
  doctor(options: DoctorCommand): Promise<void>;
}

const AFTER_HELP = `
Examples:
  keibidrop send photos movie.mkv       prints a code such as 7-guitar-pencil
  keibidrop receive 7-guitar-pencil     on the other computer
  keibidrop doctor                      check this machine
  keibidrop bench                       measure the speed, and find the limit

Settings: flags beat the environment (KD_RENDEZVOUS KD_LISTEN KD_CONFIG_DIR
KD_SAVE_PATH KD_DISCOVERY KD_LOG), which beats config.toml in the directory of
--config, with the keys rendezvous, listen, save_path, discovery, log, limit,
code_length, label, history_entries and history_days.

Exit codes: 0 done, 1 failed, 2 usage, 3 refused or wrong code, 4 peer or server
not reachable, 5 interrupted but resumable, 6 mount not available, 70 a bug of
ours, 130 Ctrl-C.
`;

/**
 * Builds the parser of the whole command line; runs nothing.
 *
 * Its `parseAsync` throws CommanderError for help, the version and usage errors, and KeibiError for invalid values.
 */
export function createProgram(handlers: Handlers, { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>): Command {
  const program = new Command('keibidrop')
    .description('Send files to another computer, directly and end-to-end encrypted.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .helpCommand('help [command]', 'show help for a command')
    // The caller prints errors once, as text or as --json.
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns(),
      getErrHelpWidth: () => stderr.columns(),
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', AFTER_HELP);
  addSendCommand(program, handlers.send);
  addReceiveCommand(program, handlers.receive);
  addShareCommand(program, handlers.share);
  addConnectCommand(program, handlers.connect);
  addMountCommand(program, handlers.mount);
  addUnmountCommand(program, handlers.unmount);
  addListCommand(program, handlers.list);
  addPullCommand(program, handlers.pull);
  addAddCommand(program, handlers.add);
  addBenchCommand(program, handlers.bench);
  addPeersCommand(program, handlers.peers);
  addContactsCommand(program, handlers.contacts);
  addIdCommand(program, handlers.id);
  addDaemonCommand(program, handlers.daemon);
  addStatusCommand(program, handlers.status);
  addStopCommand(program, handlers.stop);
  addTransfersCommand(program, handlers.transfers);
  addInvitationsCommand(program, handlers.invitations);
  addHistoryCommand(program, handlers.history);
  addUiCommand(program, handlers.ui);
  addMcpCommand(program, handlers.mcp);
  addRelayCommand(program, handlers.relay);
  addDoctorCommand(program, handlers.doctor);
  return program;
}
