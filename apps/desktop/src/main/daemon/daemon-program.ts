// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ApiError } from '../../shared/api.ts';
import type { Failure } from '../../shared/requests.ts';
import type { DaemonAddress } from './daemon-http-client.ts';

/** Path of the command line relative to this bundle, in a checkout. Set by scripts/bundle-desktop.mjs. */
declare const CHECKOUT_PROGRAM: string;

/** Runs `keibidrop`: a program and its first arguments. */
export type Program = readonly [command: string, ...args: string[]];

const START_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * The program that runs the command line: the bundled Node in a packaged window (decision 012), the one that `keibidrop desktop`
 * names, or Node from PATH in a checkout.
 *
 * @param resources  resource folder of the packaged window; undefined for any other, since a package runs only its own
 */
export function daemonProgram(
  resources: string | undefined,
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
): Program {
  if (resources === undefined) return startedBy(env) ?? ['node', join(__dirname, CHECKOUT_PROGRAM)];
  const node = platform === 'win32' ? 'node.exe' : 'node';
  return [join(resources, 'keibidrop', node), join(resources, 'keibidrop', 'keibidrop.cjs')];
}

/** The command of the `keibidrop desktop` that started this window. */
export function startedBy({ KD_WINDOW_PROGRAM }: NodeJS.ProcessEnv): Program | undefined {
  if (!KD_WINDOW_PROGRAM) return undefined;
  const program: unknown = JSON.parse(KD_WINDOW_PROGRAM);
  const isProgram = Array.isArray(program) && program.length > 0 && program.every((word) => typeof word === 'string');
  return isProgram ? (program as unknown as Program) : undefined;
}

/**
 * Returns the address and token of the daemon's HTTP port. Starts the daemon if none runs.
 *
 * @throws ApiError with the reason why it did not start, UNREACHABLE if the program cannot be run; `signal.reason`
 */
export function findDaemonAddress(
  [command, ...before]: Program,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<DaemonAddress> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const options = { env, timeout: START_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true };
    const child = execFile(command, [...before, 'ui', '--json'], options, (error, stdout) => {
      signal.removeEventListener('abort', onAbort);
      const { address, failure } = readReport(stdout);
      if (signal.aborted) reject(signal.reason);
      else if (address !== undefined) resolve(address);
      else reject(failureOf(failure, error));
    });
    const onAbort = () => child.kill();
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function failureOf(failure: Failure | undefined, error: Error | null): ApiError {
  if (failure !== undefined) return new ApiError(failure.code, failure.message);
  return new ApiError('UNREACHABLE', error?.message ?? 'The program ended without a message.');
}

/** Reads the last event of the output that carries an address or an error. */
function readReport(stdout: string): { address?: DaemonAddress; failure?: Failure } {
  for (const line of stdout.trim().split('\n').reverse()) {
    try {
      const { event, url, token, code, message } = JSON.parse(line) as Record<string, unknown>;
      if (event === 'page' && typeof url === 'string' && typeof token === 'string') return { address: { url, token } };
      if (event === 'error') return { failure: { code: String(code), message: String(message) } };
    } catch {
      // Not a line of --json.
    }
  }
  return {};
}
