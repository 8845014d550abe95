// SPDX-License-Identifier: MPL-2.0
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Check } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';
import type { Settings } from '@keibidrop/settings';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { lineOf } from '../display/json-lines.ts';
import { type Io, paint } from '../terminal/io.ts';
import { harmlessLines } from '../terminal/terminal-text.ts';

/** `keibidrop doctor`, parsed. */
export interface DoctorCommand {
  config?: string;
  listen?: string;
  discovery?: string;
  rendezvous?: string[];
  out?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop doctor
  keibidrop doctor --listen 26431 --out ~/Downloads
  keibidrop doctor --rendezvous a.example.org:26431 --rendezvous 192.0.2.7:1
  keibidrop doctor --json

Environment: KD_LISTEN KD_RENDEZVOUS KD_DISCOVERY KD_SAVE_PATH KD_CONFIG_DIR;
all others are checked too.
Exit codes: 0 all checks passed, 1 a check failed, 2 usage.
`;

export const command: CliCommand<DoctorCommand> = { name: 'doctor', declare, run };

function declare(command: Command, onRun: OnRun<DoctorCommand>): void {
  command
    .summary('check whether this machine can send and receive')
    .description('Check whether this machine can send and receive, and how well.')
    .addOption(new Option('--listen <host:port>', 'the port that a sender would listen on'))
    .addOption(new Option('--discovery <auto|off|iface>', 'networks to search for peers'))
    .addOption(
      new Option(
        '--rendezvous <host:port|url>',
        'ask this server how it sees this machine; give two to detect the NAT',
      ).argParser((value: string, before: string[] = []) => [...before, value]),
    )
    .addOption(new Option('-o, --out <dir>', 'where received files would go'))
    .addOption(new Option('--config <dir>', 'where config.toml is'))
    .addOption(new Option('--json', 'print one JSON object per line on stdout'))
    .addHelpText('after', AFTER_HELP)
    .action((options: DoctorCommand) => onRun(options));
}

/** Prints each check as it ends; resolves with 1 if one failed, else 0. */
async function run(options: DoctorCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const { config, listen, discovery, rendezvous, out } = options;
  const print = options.json ? printJson : printForPeople;
  let failed = 0;
  const show = (check: Check): void => {
    if (check.status === 'failed') failed++;
    print(check, io);
  };

  const peer = await loadPeer();
  const { settings, check } = await tryLoadSettings(() =>
    peer.loadSettings({
      flags: { config, listen, discovery, rendezvous: rendezvous?.[0], out },
      env: io.env,
      cwd: io.cwd,
    }),
  );
  show(check);
  const places = {
    discovery: settings?.discovery ?? 'off',
    listen: settings?.listen ?? { host: '::', port: 0, orAnyPort: true },
    rendezvous: [...(settings?.rendezvous === undefined ? [] : [settings.rendezvous]), ...(rendezvous?.slice(1) ?? [])],
    savePath: settings?.savePath ?? resolve(io.cwd),
  };
  for await (const found of peer.diagnose({ ...places, signal: io.signal })) show(found);

  if (options.json) io.stdout.write(lineOf('doctor', { ok: failed === 0, failed }));
  else
    io.stdout.write(
      failed === 0
        ? 'Ready to send and receive.\n'
        : `${failed} failed: this machine is not ready. Mend what is marked FAIL, then run keibidrop doctor again.\n`,
    );
  return failed === 0 ? 0 : 1;
}

/** @throws USAGE for an invalid flag, which is not a finding */
async function tryLoadSettings(load: () => Promise<Settings>): Promise<{ settings?: Settings; check: Check }> {
  try {
    const settings = await load();
    const path = join(settings.configDir, 'config.toml');
    const text = await access(path).then(
      () => path,
      () => `${path} does not exist, so defaults apply`,
    );
    return { settings, check: { name: 'configuration', status: 'ok', text } };
  } catch (error) {
    if (!(error instanceof KeibiError && error.code === 'CONFIG_INVALID')) throw error;
    const text = `${error.message} Correct that first.`;
    return { check: { name: 'configuration', status: 'failed', text } };
  }
}

const marks = {
  ok: ['green', 'ok  '],
  note: ['dim', 'note'],
  warning: ['yellow', 'warn'],
  failed: ['red', 'FAIL'],
} as const;

function printForPeople({ name, status, text }: Check, io: Io): void {
  const [style, mark] = marks[status];
  const indented = harmlessLines(text).replaceAll('\n', `\n${' '.repeat(25)}`);
  io.stdout.write(`${paint(io.stdout, style, mark)}  ${name.padEnd(18)} ${indented}\n`);
}

function printJson(check: Check, io: Io): void {
  io.stdout.write(lineOf('check', check));
}
