// SPDX-License-Identifier: MPL-2.0
import { Bench, hasHardwareAes } from '@keibidrop/native';
import { ALL_SUITES, chooseSuite, KeibiError, type Suite } from '@keibidrop/protocol';
import type { BenchPart, MeasuredEvent } from './api.ts';
import type { Rate } from './limit.ts';

const CIPHER_MS = 400;
const SHA256_MS = 200;
/** Enough for an exact result, and done within a second. */
const MAX_LOOPBACK_BYTES = 2 ** 30;

/** Runs native measurements until a signal. Reports and keeps each result. */
export class Measurements {
  readonly #bench = new Bench();
  readonly #signal: AbortSignal;
  readonly #onEvent: (event: MeasuredEvent) => void;
  readonly #onAbort = () => this.#bench.close();
  readonly rates: Rate[] = [];

  constructor({ signal, onEvent }: { signal: AbortSignal; onEvent(event: MeasuredEvent): void }) {
    this.#signal = signal;
    this.#onEvent = onEvent;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#bench.close();
  }

  report(part: BenchPart, bytesPerSecond: number, more: Pick<MeasuredEvent, 'suite' | 'fromMemory'> = {}): void {
    this.rates.push({ part, bytesPerSecond });
    this.#onEvent({ type: 'measured', part, bytesPerSecond, ...more });
  }

  /**
   * Measures writing and reading of `file`, which is created and stays. Both are reported at the end, because only reading
   * shows whether a disk is involved.
   */
  async disk(file: string, size: number): Promise<void> {
    const writeSeconds = await this.run((bench) => bench.write(file, size));
    const { bytes, seconds, fromMemory } = await this.run((bench) => bench.read(file));
    const more = fromMemory ? { fromMemory } : {};
    this.report('write', size / writeSeconds, more);
    this.report('read', bytes / seconds, more);
  }

  /** Measures every suite; only `limiting` counts as a part that can limit. */
  async suites(suites: readonly Suite[], limiting: Suite): Promise<void> {
    for (const suite of suites) {
      const { seal, open } = await this.run((bench) => bench.suite(suite, CIPHER_MS));
      const before = this.rates.length;
      this.report('seal', seal, { suite });
      this.report('open', open, { suite });
      if (suite !== limiting) this.rates.length = before;
    }
  }

  async sha256(): Promise<void> {
    this.report('sha256', await this.run((bench) => bench.sha256(SHA256_MS)));
  }

  async loopback(size: number): Promise<void> {
    const bytes = Math.min(size, MAX_LOOPBACK_BYTES);
    this.report('loopback', bytes / (await this.run((bench) => bench.loopback(bytes))));
  }

  /** Runs one native measurement. Rejects with the signal's reason once aborted. */
  async run<T>(measure: (bench: Bench) => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    try {
      return await measure(this.#bench);
    } catch (reason) {
      this.#signal.throwIfAborted();
      throw reason;
    }
  }
}

/** The suite to measure: the forced one, else the one that two machines like this would agree on. */
export function ownSuite(forced: Suite | undefined): Suite {
  const self = { suites: forced ? [forced] : ALL_SUITES, hardware: hasHardwareAes() };
  const suite = chooseSuite(self, self);
  if (suite === undefined) throw new KeibiError('HANDSHAKE_NO_COMMON_SUITE');
  return suite;
}
