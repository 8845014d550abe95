// SPDX-License-Identifier: MPL-2.0

/** Time range of the chart. */
export const THROUGHPUT_SECONDS = 120;
const MAX_SAMPLES = 600;

/** Times in seconds since 1970 and bytes per second of one transfer. Outside the store, so that only the chart redraws. */
export interface Samples {
  readonly times: number[];
  readonly rates: number[];
}

const all = new Map<number, Samples>();

/** The samples of a transfer. New ones are appended, the oldest removed; the arrays stay the same objects. */
export function samplesOf(transfer: number): Samples {
  let samples = all.get(transfer);
  if (samples === undefined) {
    samples = { times: [], rates: [] };
    all.set(transfer, samples);
  }
  return samples;
}

export function addSample(transfer: number, time: number, rate: number): void {
  const { times, rates } = samplesOf(transfer);
  times.push(time);
  rates.push(rate);
  const old = times.findIndex((each) => each >= time - THROUGHPUT_SECONDS);
  const surplus = Math.max(old, times.length - MAX_SAMPLES);
  if (surplus > 0) {
    times.splice(0, surplus);
    rates.splice(0, surplus);
  }
}

export function forgetSamples(transfer: number): void {
  all.delete(transfer);
}
