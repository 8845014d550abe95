// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs a line of shell in another process: this one answers the mount's requests and must not wait for itself.
 *
 * @returns its output; after a failure its error text, behind `failed: `
 */
export async function shell(line: string, ...words: string[]): Promise<string> {
  try {
    const { stdout } = await run('sh', ['-c', line, 'sh', ...words], {
      maxBuffer: 2 ** 26,
      timeout: 240_000,
      killSignal: 'SIGKILL',
    });
    return stdout.trim();
  } catch (reason) {
    const { stderr, killed } = reason as { stderr: string; killed: boolean };
    return killed ? 'failed: it hung' : `failed: ${stderr.trim()}`;
  }
}
