// SPDX-License-Identifier: MPL-2.0
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KeibiError, type Suite } from '@keibidrop/protocol';
import type { OfferSummary } from '../api.ts';
import type { PeerEvent } from '../events.ts';
import { receiveWith } from '../receive/receive.ts';
import type { BenchAgainstOptions, BenchPart } from './api.ts';
import { limitOf } from './limit.ts';
import { Measurements } from './measure.ts';
import { BENCH_FILES, type BenchFile, sizeOfOffer } from './offer.ts';
import { assertRoom, withScratch } from './scratch.ts';

const PARTS: Readonly<Partial<Record<BenchFile, BenchPart>>> = { link: 'link', reading: 'peerRead', whole: 'whole' };

/**
 * Measures the connection to a peer that runs `waitForBench`, and both disks, and reports the limiting part. Stores no files.
 *
 * @throws OFFER_DECLINED for a code that offers something else; TRANSFER_DESTINATION_UNUSABLE, TRANSFER_DISK_FULL; the errors
 * of `receive`; `signal.reason` on abort
 */
export async function benchAgainst(options: BenchAgainstOptions): Promise<void> {
  const measurements = new Measurements(options);
  try {
    // The size is known only from the peer's offer.
    await withScratch(options.dir, 0, async (scratch) => {
      const { size, suite } = await new Pass(options, measurements).run(scratch);
      const bytesPerSecond = measurements.rates.find(({ part }) => part === 'whole')?.bytesPerSecond ?? 0;
      await rm(join(scratch, 'whole'));
      await measurements.disk(join(scratch, 'own'), size);
      await measurements.suites([suite], suite);
      const limiting = measurements.rates.filter(({ part }) => part !== 'whole' && part !== 'read' && part !== 'seal');
      options.onEvent({ type: 'limit', ...limitOf(limiting, { bytesPerSecond, seconds: size / bytesPerSecond }) });
    });
  } finally {
    measurements.close();
  }
}

/** The transfer, and the time at which each of its files was complete. */
class Pass {
  readonly #options: BenchAgainstOptions;
  readonly #measurements: Measurements;
  #size = 0;
  #suite: Suite | undefined;
  #completeAt = 0;

  constructor(options: BenchAgainstOptions, measurements: Measurements) {
    this.#options = options;
    this.#measurements = measurements;
  }

  async run(scratch: string): Promise<{ size: number; suite: Suite }> {
    const { onEvent } = this.#options;
    const result = await receiveWith(
      {
        ...this.#options,
        // An interrupted measurement is useless.
        patienceMs: 0,
        out: scratch,
        collisions: 'rename',
        verbose: true,
        confirm: (offer) => this.#admit(offer),
        onEvent: (event) => this.#take(event),
      },
      {
        discards: (path) => path !== 'whole',
        beforeLanes: async ({ host, port }) => {
          const seconds = await this.#measurements.run((bench) => bench.roundTrip(host, port));
          onEvent({ type: 'roundTrip', seconds });
        },
      },
    );
    const [failed] = result.failed;
    if (failed) throw new KeibiError(failed.code, `${failed.path}: ${failed.message}`);
    if (result.files !== BENCH_FILES.length || !this.#suite) throw new KeibiError('TRANSFER_INCOMPLETE');
    return { size: this.#size, suite: this.#suite };
  }

  /** Decides without the user: declines other offers, and discards the files of a bench. */
  async #admit(offer: OfferSummary): Promise<boolean> {
    const size = sizeOfOffer(offer);
    if (size === undefined) {
      const message = 'That code does not offer a bench. Use it with keibidrop receive.';
      throw new KeibiError('OFFER_DECLINED', message);
    }
    await assertRoom(this.#options.dir, size);
    this.#size = size;
    this.#suite = offer.suite;
    return true;
  }

  #take(event: PeerEvent): void {
    if (event.type === 'file') this.#complete(event.path as BenchFile);
    // The other events concern files, which a bench does not keep.
    else if (event.type === 'connected' || event.type === 'progress' || event.type === 'warning')
      this.#options.onEvent(event);
  }

  /** Each file begins when the previous one ends, because the lanes are never idle in between. */
  #complete(file: BenchFile): void {
    const now = performance.now();
    const part = PARTS[file];
    if (part) this.#measurements.report(part, (this.#size * 1000) / (now - this.#completeAt));
    this.#completeAt = now;
  }
}
