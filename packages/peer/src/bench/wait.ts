// SPDX-License-Identifier: MPL-2.0
import { join } from 'node:path';
import { assertCodeStrength } from '@keibidrop/protocol';
import type { SendResult } from '../api.ts';
import type { PeerEvent } from '../events.ts';
import { sendRoots } from '../send/send.ts';
import type { WaitForBenchOptions } from './api.ts';
import { Measurements } from './measure.ts';
import { benchRoots, benchSize } from './offer.ts';
import { withScratch } from './scratch.ts';

/**
 * Waits for one peer that runs `benchAgainst` with the code. Offers only random data, generated or temporarily stored on this
 * disk.
 *
 * @throws USAGE (the size), CODE_TOO_WEAK, TRANSFER_DESTINATION_UNUSABLE, TRANSFER_DISK_FULL; the errors of `send`;
 * `signal.reason` on abort
 */
export async function waitForBench(options: WaitForBenchOptions): Promise<SendResult> {
  const { dir, code, signal } = options;
  signal.throwIfAborted();
  if (code && !options.insecureCode) assertCodeStrength(code);
  const size = benchSize(options.size);
  const measurements = new Measurements({ signal, onEvent: () => {} });
  try {
    return await withScratch(dir, 2 * size, async (scratch) => {
      const onDisk = { reading: join(scratch, 'reading'), whole: join(scratch, 'whole') };
      options.onEvent({ type: 'start', bytes: size, dir });
      // Otherwise the files would be read from memory.
      const forget = (file: string) => measurements.run((bench) => bench.flush(file));
      for (const file of Object.values(onDisk)) {
        await measurements.run((bench) => bench.write(file, size));
        await forget(file);
      }
      const onEvent = (event: PeerEvent) => {
        // The next receiver must read from the disk too.
        if (event.type === 'receiverLost') for (const file of Object.values(onDisk)) void forget(file).catch(() => {});
        options.onEvent(event);
      };
      return await sendRoots({ ...options, paths: [], receivers: 1, onEvent }, benchRoots(size, onDisk));
    });
  } finally {
    measurements.close();
  }
}
