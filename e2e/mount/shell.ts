// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Sandbox } from '../harness/sandbox.ts';

/** Only ends what hangs: a machine with much other work takes its time. */
const HANGS_SECONDS = 240;

const execute = promisify(execFile);

/** Output of a shell line in the sandbox, or the reason why it failed. Kills the shell after `seconds`. */
export async function shellIn(sandbox: Sandbox, line: string, seconds = HANGS_SECONDS): Promise<string> {
  const options = { cwd: sandbox.home, timeout: seconds * 1000, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 } as const;
  try {
    return (await execute('sh', ['-c', line], options)).stdout.trim();
  } catch (failure) {
    const { killed, stderr } = failure as { killed: boolean; stderr: string };
    return killed ? 'it hung' : `failed: ${stderr.trim()}`;
  }
}
