// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { KeibiError } from '@keibidrop/protocol';
import type { Io } from '../terminal/io.ts';
import { absoluteProgram, systemdUnit } from './systemd-unit.ts';

const UNIT = 'keibidrop-daemon.service';
const SYSTEMCTL_TIMEOUT_MS = 30_000;

/** The file that starts the daemon when its user logs in. */
export interface LoginStart {
  kind: 'systemd' | 'autostart';
  file: string;
}

/** The file to write: a user unit where systemd runs, else an entry of the desktop. @throws USAGE on other systems */
export async function loginStartOf({ env }: Pick<Io, 'env'>): Promise<LoginStart> {
  if (process.platform !== 'linux') {
    throw new KeibiError('USAGE', '--install and --uninstall are for Linux. Start keibidrop daemon at login yourself.');
  }
  const booted = await stat('/run/systemd/system').then(
    () => true,
    () => false,
  );
  const [autostart, systemd] = filesOf(env);
  return booted ? { kind: 'systemd', file: systemd } : { kind: 'autostart', file: autostart };
}

/**
 * Writes the file that starts the daemon at login.
 *
 * @param configDir  absolute path of --config
 * @throws           FOLDER_UNREADABLE if it cannot be written
 */
export async function install(start: LoginStart, { program }: Pick<Io, 'program'>, configDir?: string): Promise<void> {
  const unit = start.kind === 'systemd';
  const text = unit ? systemdUnit(program, configDir) : autostartEntry(program, configDir);
  await writing(start.file, async () => {
    await mkdir(dirname(start.file), { recursive: true });
    await writeFile(start.file, text);
    if (!unit) return;
    // The same link as `systemctl enable` makes, which needs a running user manager.
    const link = wantedLink(start.file);
    await mkdir(dirname(link), { recursive: true });
    await rm(link, { force: true });
    await symlink(start.file, link);
  });
}

/** Starts the installed unit. False if no user manager can be reached, as in a session of `su`. */
export async function startUnit({ env }: Pick<Io, 'env'>): Promise<boolean> {
  return (await systemctl(env, 'daemon-reload')) && (await systemctl(env, 'start', UNIT));
}

/** Removes what `install` wrote, of either kind, and stops the unit. @returns the removed files */
export async function uninstall({ env }: Pick<Io, 'env'>): Promise<string[]> {
  const removed: string[] = [];
  for (const file of filesOf(env)) {
    const present = await stat(file).then(
      () => true,
      () => false,
    );
    if (!present) continue;
    const unit = file.endsWith(UNIT);
    if (unit) await systemctl(env, 'stop', UNIT);
    await writing(file, async () => {
      if (unit) await rm(wantedLink(file), { force: true });
      await rm(file);
    });
    if (unit) await systemctl(env, 'daemon-reload');
    removed.push(file);
  }
  return removed;
}

/** The files for the desktop and for systemd. */
function filesOf(env: Io['env']): [autostart: string, systemd: string] {
  const { XDG_CONFIG_HOME, HOME } = env;
  if (!XDG_CONFIG_HOME && !HOME) throw new KeibiError('USAGE', 'HOME is not set, so there is no place to install to.');
  const config = XDG_CONFIG_HOME || join(HOME ?? '', '.config');
  return [resolve(config, 'autostart', 'keibidrop-daemon.desktop'), resolve(config, 'systemd', 'user', UNIT)];
}

function wantedLink(file: string): string {
  return join(dirname(file), 'default.target.wants', UNIT);
}

async function writing(file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KeibiError('FOLDER_UNREADABLE', `${file} cannot be changed (${why}).`, { cause });
  }
}

async function systemctl(env: Io['env'], ...words: string[]): Promise<boolean> {
  try {
    await promisify(execFile)('systemctl', ['--user', ...words], { env: { ...env }, timeout: SYSTEMCTL_TIMEOUT_MS });
    return true;
  } catch {
    return false; // no systemctl, or no user manager
  }
}

/** An entry of the autostart folder, for desktops without systemd (freedesktop.org, Desktop Entry Specification 1.5). */
function autostartEntry(program: readonly string[], configDir: string | undefined): string {
  const config = configDir === undefined ? [] : ['--config', configDir];
  const command = [...absoluteProgram(program), 'daemon', ...config].map(quoted).join(' ');
  return `[Desktop Entry]
Type=Application
Name=KeibiDrop daemon
Comment=Sends and receives in the background
Exec=${command}
NoDisplay=true
X-GNOME-Autostart-enabled=true
`;
}

/** Quotes a word for the key Exec: first for its own syntax, then for that of a string. */
function quoted(word: string): string {
  const text = `"${word.replace(/["`$\\]/g, '\\$&')}"`.replaceAll('%', '%%');
  return /^[\w./:@+-]+$/.test(word) ? word : text.replaceAll('\\', '\\\\');
}
