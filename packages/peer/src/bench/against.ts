// SPDX-License-Identifier: MPL-2.0
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KeibiError, type Suite } from '@keibidrop/protocol';
import type { OfferSummary } from '../api.ts';
import type { PeerEvent } from '../events.ts';
import { receiveWith } from '../receive.ts';
import type { BenchAgainstOptions, BenchPart } from './api.ts';
import { limitOf } from './limit.ts';
import { Measurements } from './measure.ts';
import { BENCH_FILES, type BenchFile, sizeOfOffer } from './offer.ts';
import { assertRoom, withScratch } from './scratch.ts';

const PARTS: Readonly<Partial<Record<BenchFile, BenchPart>>> = { link: 'link', reading: 'peerRead', whole: 'whole' };

/**
 * Measures the way to a peer that waits with `waitForBench`, its disk and this one, and says what limits. Keeps nothing.
 *
 * @throws OFFER_DECLINED for a code that offers something else; TRANSFER_DESTINATION_UNUSABLE, TRANSFER_DISK_FULL; what `receive`
 *         throws; `signal.reason` on abort
 */
export async function benchAgainst(options: BenchAgainstOptions): Promise<void> {
  const measurements = new Measurements(options);
  try {
    // How much it will be is known once the peer has offered.
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

/** The transfer, and when each of its files was complete. */
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
        // Half a measurement is none.
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

  /** Nobody is asked: what is no bench is declined, and of a bench nothing is kept. */
  async #admit(offer: OfferSummary): Promise<boolean> {
    const size = sizeOfOffer(offer);
    if (size === undefined) {
      const message = 'That code offers something else than a bench. Use keibidrop receive with it.';
      throw new KeibiError('OFFER_DECLINED', message);
    }
    await assertRoom(this.#options.dir, size);
    this.#size = size;
    this.#suite = offer.suite;
    return true;
  }

  #take(event: PeerEvent): void {
    if (event.type === 'file') this.#complete(event.path as BenchFile);
    // What is left of a transfer's events tells of files, and there are none for anybody.
    else if (event.type === 'connected' || event.type === 'progress' || event.type === 'warning')
      this.#options.onEvent(event);
  }

  /** One file begins where the one before it ends: the lanes are never idle between them. */
  #complete(file: BenchFile): void {
    const now = performance.now();
    const part = PARTS[file];
    if (part) this.#measurements.tell(part, (this.#size * 1000) / (now - this.#completeAt));
    this.#completeAt = now;
  }
}
