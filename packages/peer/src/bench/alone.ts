// SPDX-License-Identifier: MPL-2.0
import { join } from 'node:path';
import { ALL_SUITES } from '@keibidrop/protocol';
import { receive } from '../receive/receive.ts';
import type { BenchAloneOptions } from './api.ts';
import { limitOf, type Whole } from './limit.ts';
import { Measurements, ownSuite } from './measure.ts';
import { benchSize } from './offer.ts';
import { withScratch } from './scratch.ts';

const SOURCE = 'source';

/**
 * Measures disk, ciphers, digest and TCP of this machine separately, then a real transfer from another process to this one.
 * Reports the limiting part.
 *
 * @throws USAGE (the size), TRANSFER_DESTINATION_UNUSABLE, TRANSFER_DISK_FULL; the errors of a transfer; `signal.reason` on
 * abort
 */
export async function benchAlone(options: BenchAloneOptions): Promise<void> {
  const { dir, signal, onEvent } = options;
  signal.throwIfAborted();
  const size = benchSize(options.size);
  const suite = ownSuite(options.suite);
  const measurements = new Measurements(options);
  try {
    // One file to send and one to receive.
    await withScratch(dir, 2 * size, async (scratch) => {
      onEvent({ type: 'start', bytes: size, dir });
      await measurements.disk(join(scratch, SOURCE), size);
      await measurements.suites(options.suite ? [options.suite] : ALL_SUITES, suite);
      await measurements.loopback(size);
      const parts = measurements.rates.slice();
      await measurements.sha256();
      const whole = await transfer(scratch, size, measurements, options);
      onEvent({ type: 'limit', ...limitOf(parts, whole) });
    });
  } finally {
    measurements.close();
  }
}

/** @returns  the time from the start of the session until the file is complete */
async function transfer(
  scratch: string,
  size: number,
  measurements: Measurements,
  { startSender, suite, label, signal }: BenchAloneOptions,
): Promise<Whole> {
  const source = join(scratch, SOURCE);
  const out = join(scratch, 'received');
  // Flushed from the page cache, so that it is read from the disk like an old file.
  await measurements.run((bench) => bench.flush(source));
  const sender = await startSender(source, { scratch, signal });
  try {
    const { seconds } = await receive({
      code: sender.code,
      connect: sender.address,
      out,
      collisions: 'rename',
      suite,
      label,
      reach: { discovery: 'off', directOnly: true, relayOnly: false },
      signal,
      onEvent: () => {},
    });
    const whole = { bytesPerSecond: size / seconds, seconds };
    measurements.report('whole', whole.bytesPerSecond);
    const flushed = await measurements.run((bench) => bench.flush(join(out, SOURCE)));
    measurements.report('wholeOnDisk', size / (seconds + flushed));
    return whole;
  } finally {
    await sender.end();
  }
}
