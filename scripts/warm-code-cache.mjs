// SPDX-License-Identifier: MPL-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const TIMEOUT_MS = 60_000;
const CODE = '7-guitar-pencil';

/**
 * Sends a file from the program in `dist` to itself on the loopback interface, so that its first use finds the code of a
 * whole exchange compiled (decision 032). A failure only makes that first use slower.
 */
export async function warmCodeCache(dist) {
  const cache = join(dist, 'code-cache');
  await rm(cache, { recursive: true, force: true });
  await mkdir(cache);
  await chmod(cache, 0o755);
  const home = await mkdtemp(join(tmpdir(), 'keibidrop-warm-'));
  const children = [];
  try {
    await writeFile(join(home, 'file'), Buffer.alloc(2 ** 20, 1));
    const start = (...args) => {
      const env = { ...process.env, XDG_RUNTIME_DIR: home, KD_CONFIG_DIR: join(home, 'config'), KD_DISCOVERY: 'off' };
      const options = { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'], timeout: TIMEOUT_MS };
      const child = spawn(process.execPath, [join(dist, 'keibidrop.cjs'), ...args, '--json'], options);
      children.push(child);
      return child;
    };
    const sender = start('send', 'file', '--code', CODE, '--listen', '127.0.0.1:0');
    for await (const line of createInterface(sender.stdout)) {
      const { event, port } = JSON.parse(line);
      if (event !== 'waiting') continue;
      const receiver = start('receive', CODE, '--connect', `127.0.0.1:${port}`, '--yes', '--out', 'in');
      sender.stdout.resume();
      receiver.stdout.resume();
      await Promise.all([once(sender, 'exit'), once(receiver, 'exit')]);
      break;
    }
  } finally {
    for (const child of children) child.kill();
    await rm(home, { recursive: true, force: true });
  }
}
