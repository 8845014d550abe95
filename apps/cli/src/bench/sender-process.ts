// SPDX-License-Identifier: MPL-2.0
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { SenderProcess } from '@keibidrop/peer';
import { type ErrorCode, KeibiError, parseCode } from '@keibidrop/protocol';
import type { Io } from '../terminal/io.ts';

/**
 * Starts this program again as `send PATH`, on a port of the loopback interface and without the user's settings.
 *
 * It ends with this process, even if that is killed: the channel between them closes.
 *
 * @param options.scratch  a directory without a config.toml
 * @throws                 its error if it fails before it waits; `signal.reason`
 */
export async function startSenderProcess(
  io: Io,
  path: string,
  { scratch, signal }: { scratch: string; signal: AbortSignal },
): Promise<SenderProcess> {
  signal.throwIfAborted();
  const [command = '', ...before] = io.program;
  const args = ['send', path, '--json', '--listen', '127.0.0.1:0', '--discovery', 'off', '--config', scratch];
  const child = spawn(command, [...before, ...args], {
    env: { ...io.env, KD_RENDEZVOUS: '' },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  const gone = once(child, 'exit');
  gone.catch(() => {});
  const end = async () => {
    child.kill();
    await gone;
  };
  try {
    return { ...(await untilItWaits(child, signal)), end };
  } catch (reason) {
    if (child.pid !== undefined) await end();
    throw reason;
  }
}

/** Reads its events up to `waiting`; later ones are drained and ignored. */
async function untilItWaits(child: ChildProcess, signal: AbortSignal): Promise<Omit<SenderProcess, 'end'>> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream, signal });
  const failed = once(child, 'error', { signal }).then(([cause]) => {
    throw new KeibiError('INTERNAL', 'The second process of the bench cannot be started.', { cause });
  });
  try {
    return await Promise.race([waiting(lines), failed]);
  } catch (reason) {
    signal.throwIfAborted();
    throw reason;
  } finally {
    failed.catch(() => {});
    lines.close();
    child.stdout?.resume();
  }
}

async function waiting(lines: AsyncIterable<string>): Promise<Omit<SenderProcess, 'end'>> {
  let code = '';
  for await (const line of lines) {
    const event = JSON.parse(line) as { event: string; code: string; port: number; message: string };
    if (event.event === 'code') code = event.code;
    if (event.event === 'error') throw new KeibiError(event.code as ErrorCode, event.message);
    if (event.event === 'waiting') return { code: parseCode(code), address: { host: '127.0.0.1', port: event.port } };
  }
  throw new KeibiError('INTERNAL', 'The second process of the bench ended before it started to wait.');
}
