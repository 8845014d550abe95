// SPDX-License-Identifier: MPL-2.0

// Ports for servers that cannot choose one themselves, or whose port must be known before they start.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below Linux's ephemeral range (32768 and up), so that no connection or listener of another program gets it meanwhile. */
const LOWEST = 10_000;
const HIGHEST = 32_767;
const TRIES = 50;

/** Resolves to a TCP port on which nothing listens at 127.0.0.1. */
export async function freePort() {
  for (let left = TRIES; ; left--) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (error.code !== 'EADDRINUSE' || left === 0) throw error;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
