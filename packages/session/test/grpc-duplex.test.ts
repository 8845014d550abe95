// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openGrpcChannel } from '../src/index.ts';
import { TcpPairs } from './tcp-pairs.ts';

let pairs: TcpPairs;
beforeEach(async () => {
  pairs = await TcpPairs.listen();
});
afterEach(() => pairs.close());

// This was an uncaught exception; it ended a daemon that gave up a visit at that moment.
it.each(['by its owner', 'with its connection'])('a channel may be closed before it is set up: %s', async (how) => {
  const [here] = await pairs.open();
  const uncaught: unknown[] = [];
  const note = (reason: unknown) => uncaught.push(reason);
  process.once('uncaughtExceptionMonitor', note);
  const channel = openGrpcChannel(here);
  if (how === 'by its owner') channel.close();
  else here.destroy();
  if (!here.closed) await once(here, 'close');
  await setImmediate();
  process.off('uncaughtExceptionMonitor', note);
  expect(uncaught).toEqual([]);
});
