// SPDX-License-Identifier: MPL-2.0

// scp and rsync over our own sshd, on loopback or at an end of a long link: a free port, keys and configuration in the
// workspace. It does not touch ~/.ssh or the system's sshd. Each run has a new sshd, started before the clock and
// stopped after it. measure thus counts all its processes: the receiving side's CPU seconds and peak memory.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';
import { assertEqual, findProgram } from './workspace.mjs';

const run = promisify(execFile);
const CIPHER = 'aes256-gcm@openssh.com';
/**
 * sshd drops its privileges here; the path is compiled in. Debian creates it when its own sshd starts; other systems
 * use other names.
 */
const PRIVILEGE_SEPARATION = '/run/sshd';
const HOST = 'bench';

/**
 * The cases that can run here, and a sentence about each that cannot.
 *
 * @param options.address       where sshd listens
 * @param options.serverPrefix  a command that runs sshd, such as one that enters a namespace
 * @param options.clientPrefix  the same for scp and rsync, which push to sshd
 */
export async function openSsh(workspace, { address = '127.0.0.1', serverPrefix = [], clientPrefix = [] } = {}) {
  const sshd = findProgram('sshd');
  const missing = [
    ['scp', sshd && findProgram('scp'), 'openssh-server openssh-client'],
    ['rsync over ssh', sshd && findProgram('rsync'), 'openssh-server openssh-client rsync'],
  ].flatMap(([name, found, packages]) => (found ? [] : [`${name}: not installed (Debian: ${packages})`]));
  if (!sshd) return { missing, cases: () => [], close: async () => {} };

  const client = await writeKeysAndConfigs(workspace, address);
  // Not removed, like Debian's own: another benchmark's sshd may be using it by then.
  if (process.getuid() === 0) await mkdir(PRIVILEGE_SEPARATION, { recursive: true, mode: 0o755 });
  const ends = { sshd: [...serverPrefix, 'sh', '-c', 'exec "$0" -D -e -f "$1" 2>&1', sshd], clientPrefix };
  const commands = {
    [`scp, ${CIPHER.split('@')[0]}`]: (source, out) => ['scp', '-q', '-r', '-F', client, source, `${HOST}:${out}/`],
    'rsync -a over ssh': (source, out) => ['rsync', '-a', '-e', `ssh -F '${client}'`, source, `${HOST}:${out}/`],
  };
  return {
    missing,
    cases: (source) =>
      Object.entries(commands)
        .filter(([, command]) => findProgram(command('', '')[0]))
        .map(([name, command]) => ({ name, run: () => copyOver(workspace, ends, source, command) })),
    close: () => rm(workspace.path('ssh'), { recursive: true }),
  };
}

/** A folder mounted by sshfs, or a sentence about why that is impossible. */
export async function openSshfs(workspace, folder, { address, serverPrefix, clientPrefix }) {
  const sshd = findProgram('sshd');
  if (!(sshd && findProgram('sshfs')))
    return { missing: ['sshfs: not installed (Debian: sshfs openssh-server)'], close: async () => {} };
  const client = await writeKeysAndConfigs(workspace, address);
  if (process.getuid() === 0) await mkdir(PRIVILEGE_SEPARATION, { recursive: true, mode: 0o755 });
  const at = workspace.path('sshfs');
  let served;
  let shown;
  return {
    missing: [],
    at,
    async mount() {
      await mkdir(at, { recursive: true });
      const [shell, ...rest] = [...serverPrefix, 'sh', '-c', 'exec "$0" -D -e -f "$1" 2>&1', sshd];
      served = workspace.start(shell, [...rest, workspace.path('ssh/sshd_config')]);
      await served.line(/Server listening/);
      const [program, ...words] = [...clientPrefix, 'sshfs', '-f', '-F', client, `${HOST}:${folder}`, at];
      shown = workspace.start(program, words);
    },
    async unmount() {
      await run('fusermount3', ['-u', at]);
      await shown.report();
      await served.stop();
    },
    close: () => rm(workspace.path('ssh'), { recursive: true }),
  };
}

async function copyOver(workspace, { sshd, clientPrefix }, source, command) {
  const out = workspace.path('ssh-in');
  await mkdir(out);
  // A shell joins both outputs of sshd, which prints only on standard error.
  const [shell, ...rest] = [...sshd, workspace.path('ssh/sshd_config')];
  const served = workspace.start(shell, rest);
  await served.line(/Server listening/);
  const [program, ...args] = [...clientPrefix, ...command(source, out)];
  const sent = await workspace.start(program, args).report();
  const received = await served.stop();
  await assertEqual(source, `${out}/${basename(source)}`);
  await workspace.discard(out);
  return { seconds: sent.wall, cpu: sent.cpu + received.cpu, rss: Math.max(sent.rss, received.rss) };
}

/** Returns the path of the client's configuration. */
async function writeKeysAndConfigs(workspace, address) {
  const at = (name) => workspace.path(`ssh/${name}`);
  await mkdir(at('.'), { mode: 0o700 });
  for (const key of ['host_key', 'client_key']) {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  }
  await copyFile(at('client_key.pub'), at('authorized_keys'));
  const port = await freePort();
  await writeFile(
    at('sshd_config'),
    `ListenAddress ${address}:${port}
HostKey "${at('host_key')}"
AuthorizedKeysFile "${at('authorized_keys')}"
AuthenticationMethods publickey
StrictModes no
PermitUserRC no
PidFile none
Subsystem sftp internal-sftp
`,
  );
  await writeFile(
    at('config'),
    `Host ${HOST}
HostName ${address}
Port ${port}
User ${userInfo().username}
IdentityFile "${at('client_key')}"
IdentitiesOnly yes
IdentityAgent none
UserKnownHostsFile "${at('known_hosts')}"
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking accept-new
BatchMode yes
Ciphers ${CIPHER}
LogLevel ERROR
`,
  );
  return at('config');
}
