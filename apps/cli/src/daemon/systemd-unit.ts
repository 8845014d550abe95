// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';

/**
 * A systemd user unit that runs this program's daemon, with absolute paths: systemd's PATH differs from a shell's.
 *
 * @param program    the command that starts this program
 * @param configDir  absolute path of --config
 */
export function systemdUnit(program: readonly string[], configDir: string | undefined): string {
  const config = configDir === undefined ? [] : ['--config', configDir];
  const command = (name: string) => [...absoluteProgram(program), name, ...config].map(quoted).join(' ');
  return `# SPDX-License-Identifier: MPL-2.0
# keibidrop daemon --systemd > ~/.config/systemd/user/keibidrop-daemon.service
# systemctl --user enable --now keibidrop-daemon
[Unit]
Description=KeibiDrop, sends and receives in the background
After=network.target

[Service]
ExecStart=${command('daemon')}
ExecStop=${command('stop')}
Restart=on-failure
# Do not fight a daemon that was started by hand.
RestartPreventExitStatus=1 2
TimeoutStopSec=20
NoNewPrivileges=yes
LockPersonality=yes
RestrictSUIDSGID=yes

[Install]
WantedBy=default.target
`;
}

/** The command that starts this program, from any working directory. */
export function absoluteProgram([interpreter = '', ...rest]: readonly string[]): string[] {
  return [interpreter, ...rest.map((word) => (word.startsWith('-') ? word : resolve(word)))];
}

/** Quotes a word for systemd.syntax(7) and systemd.service(5): no specifier, variable or escape takes effect. */
function quoted(word: string): string {
  const text = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w./:@+-]+$/.test(text) ? text : `"${text}"`;
}
