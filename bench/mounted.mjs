// SPDX-License-Identifier: MPL-2.0

// Mounts of one folder: by a daemon that another shares it with, and by other programs, each in its own process.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';
import { checkout } from './workspace.mjs';

const run = promisify(execFile);
const cli = `${checkout}apps/cli/dist/keibidrop.cjs`;
const tools = `${checkout}bench/build/`;
/** libfuse's own example; Debian's libfuse3-dev has its source. */
const EXAMPLE = '/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c';
/** `npm run bench -- install` puts it here. */
export const FUSE_NATIVE = `${tools}fuse-native`;
export const FUSE_NATIVE_LIBRARY = `${FUSE_NATIVE}/libfuse.so.2`;
const MOUNT_AGAIN_MS = 20;
const MOUNT_MS = 10_000;

/**
 * Starts two daemons, the first of which shares `folder`; each has its own identity and state.
 *
 * @param options.address       address of the sharing daemon
 * @param options.sharePrefix   a command that runs the sharing daemon, such as one that enters a namespace
 * @param options.mountPrefix   the same for the mounting daemon
 */
export async function openShare(
  workspace,
  folder,
  { name = 'share', address = '127.0.0.1', sharePrefix = [], mountPrefix = [] } = {},
) {
  const started = [];
  const daemon = async (role, prefix) => {
    const config = workspace.path(`${name}-${role}`);
    await mkdir(config, { recursive: true });
    const [command, ...rest] = [...prefix, process.execPath, cli, 'daemon', '--json', '--config', config];
    const running = workspace.start(command, rest, { KD_CONFIG_DIR: config });
    await running.line(/"listening"/);
    started.push(running);
    const env = { ...process.env, XDG_RUNTIME_DIR: workspace.path('runtime'), KD_DISCOVERY: 'off' };
    return async (...words) => {
      const typed = [cli, ...words, '--json', '--config', config];
      const lines = (await run(process.execPath, typed, { env })).stdout.trim().split('\n');
      return JSON.parse(lines.at(-1));
    };
  };
  const sharing = await daemon('sharing', sharePrefix);
  const mounting = await daemon('mounting', mountPrefix);
  const port = await freePort();
  const { code } = await sharing('add', folder, '--listen', `${address}:${port}`);
  const at = workspace.path(`${name}-mounted`);
  return {
    at,
    async mount(...words) {
      await mounting('mount', code, at, '--connect', `${address}:${port}`, ...words);
    },
    async unmount() {
      await mounting('unmount', at);
    },
    async close() {
      await mounting('unmount', at, '--force').catch(() => {}); // most often it is already unmounted
      const reports = [];
      for (const running of started.toReversed()) reports.push(await running.stop());
      return reports;
    },
  };
}

/**
 * @returns  mounts of a folder of this machine by other programs, each with `mount` and `unmount`; and a sentence for
 * each missing program
 */
export async function otherMounts(workspace, folder) {
  const mounts = [];
  const missing = [];
  const passthrough = await buildPassthrough();
  if (passthrough === undefined)
    missing.push(`libfuse passthrough: ${EXAMPLE} is not there (Debian: libfuse3-dev gcc)`);
  else
    mounts.push(
      localMount(workspace, 'libfuse passthrough_ll, local', (at) => [
        passthrough,
        '-f',
        '-o',
        `source=${folder},cache=auto`,
        at,
      ]),
    );
  if (!existsSync(FUSE_NATIVE_LIBRARY)) missing.push('fuse-native: not installed');
  else {
    const program = `${checkout}bench/fuse-native-folder.cjs`;
    mounts.push(
      localMount(workspace, 'fuse-native, local', (at) => [process.execPath, program, FUSE_NATIVE, folder, at]),
    );
    mounts.push(
      localMount(workspace, 'fuse-native, big reads, local', (at) => [
        process.execPath,
        program,
        FUSE_NATIVE,
        folder,
        at,
        'big',
      ]),
    );
  }
  return { mounts, missing };
}

function localMount(workspace, name, commandFor) {
  const at = workspace.path(name.replaceAll(/\W+/g, '-'));
  let running;
  return {
    name,
    at,
    async mount() {
      await mkdir(at, { recursive: true });
      const [command, ...words] = commandFor(at);
      running = workspace.start(command, words, { LD_LIBRARY_PATH: FUSE_NATIVE });
      await untilMounted(at);
    },
    async unmount() {
      await run('umount', [at]);
      await running.report().catch(() => {}); // some exit with a code other than 0 when they are unmounted
    },
  };
}

/** Resolves once there is a mount at `at`. */
export async function untilMounted(at) {
  const late = AbortSignal.timeout(MOUNT_MS);
  while (!(await isMounted(at))) {
    if (late.aborted) throw new Error(`nothing is mounted on ${at} after ${MOUNT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, MOUNT_AGAIN_MS));
  }
}

async function isMounted(at) {
  return (await readFile('/proc/self/mountinfo', 'utf8')).includes(` ${at} `);
}

async function buildPassthrough() {
  if (!existsSync(EXAMPLE)) return undefined;
  const built = `${tools}passthrough_ll`;
  if (existsSync(built)) return built;
  const { stdout } = await run('pkg-config', ['--cflags', '--libs', 'fuse3']);
  await run('gcc', ['-O3', '-w', '-D_GNU_SOURCE', '-o', built, EXAMPLE, ...stdout.trim().split(/\s+/)]);
  return built;
}
