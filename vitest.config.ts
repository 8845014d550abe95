// SPDX-License-Identifier: MPL-2.0
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Real sockets and real processes: nothing leaves this machine.
const env = { KD_DISCOVERY: 'off' };

/** Short files of long tests: Vitest begins with the longest files, and would end with one of these alone. */
const LONG = /e2e\/(bench\/smoke|faults\/kill|hostile\/endurance|transfer\/small-machines|reach\/move)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/**
 * Tests wait for conditions. These limits only end what hangs, so they hold on a machine with much other work.
 */
const HANGS_MS = 240_000;
const waits = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: HANGS_MS } } };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Two files at a time, whatever the machine. check.mjs takes more, since many tests mostly wait for timers and processes.
    minWorkers: 1,
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{apps,packages}/*/{src,test}/**/*.test.ts', 'native/{lib,test}/**/*.test.ts'],
          env,
          ...waits,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts', ...(process.env.KD_TEST_PACKAGES ? ['e2e/packages/*.release.ts'] : [])],
          env,
          ...waits,
        },
      },
      {
        test: {
          // By `npm run soak` alone.
          name: 'soak',
          include: ['e2e/**/*.soak.ts'],
          env,
          testTimeout: 1_200_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
