// SPDX-License-Identifier: MPL-2.0
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  announce,
  announceOnLan,
  createDirectTransport,
  createLanTransport,
  createRegistryTransport,
} from '../src/index.ts';
import { transportContract } from './transport-contract.ts';

const MAILBOX = 'ab'.repeat(32);

transportContract('direct', async (port) => ({
  transport: createDirectTransport({ host: '127.0.0.1', port }),
  mailbox: MAILBOX,
  async close() {},
}));

transportContract('registry', async (port) => {
  const directory = await mkdtemp(join(tmpdir(), 'keibidrop-registry-'));
  const withdraw = await announce(MAILBOX, { host: '127.0.0.1', port }, { directory });
  return {
    transport: createRegistryTransport({ directory }),
    mailbox: MAILBOX,
    async close() {
      await withdraw();
      await rm(directory, { recursive: true });
    },
  };
});

// Multicast on the loopback interface stays there; a separate port isolates it from other programs of this machine.
transportContract('LAN', async (port) => {
  const options = { discovery: { interface: 'lo' }, port: 20_000 + (port % 10_000), lookMs: 150, answerIntervalMs: 10 };
  const withdraw = announceOnLan(MAILBOX, { host: '127.0.0.1', port }, options);
  return { transport: createLanTransport(options), mailbox: MAILBOX, close: withdraw };
});
