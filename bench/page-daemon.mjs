// SPDX-License-Identifier: MPL-2.0

// A daemon, driven through the HTTP server that its page uses.
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { checkout } from './workspace.mjs';

const run = promisify(execFile);
const cli = `${checkout}apps/cli/dist/keibidrop.cjs`;
const AGAIN_MS = 50;

export async function pageDaemon(workspace, name) {
  const config = workspace.path(`${name}-config`);
  await mkdir(config, { recursive: true });
  const env = {
    ...process.env,
    XDG_RUNTIME_DIR: workspace.path('runtime'),
    KD_DISCOVERY: 'off',
    KD_LISTEN: '127.0.0.1:0',
  };
  const command = async (...args) =>
    (await run(process.execPath, [cli, ...args, '--json', '--config', config], { env })).stdout;
  const { url, token } = JSON.parse(await command('ui'));
  const door = new URL(url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = async (method, request) => {
    const response = await fetch(`${door.origin}/api/${method}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(request),
    });
    const reply = await response.json();
    if (!response.ok) throw new Error(`${method}: ${reply.error.message}`);
    return reply;
  };
  const transferOf = async (id) => (await call('Transfers', {})).transfers.find((transfer) => transfer.id === id);
  const until = async (id, is) => {
    for (;;) {
      const transfer = await transferOf(id);
      if (is(transfer)) return transfer;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };
  return {
    url,
    call,
    /** Starts a send and waits until it can be received. @returns  its code */
    async offer(request) {
      const { transfer } = await call('Send', request);
      return (await until(transfer.id, ({ code, state }) => code !== undefined && state === 'waiting')).code;
    },
    /** Waits until all transfers are done. @throws if one has failed */
    async ended(ids) {
      for (const id of ids) {
        const { state, error } = await until(id, (transfer) => transfer === undefined || transfer.ended !== undefined);
        if (state !== 'done') throw new Error(`a transfer ended as ${state}: ${error?.message}`);
      }
    },
    stop: () => command('stop'),
  };
}
