// SPDX-License-Identifier: MPL-2.0
import { defineConfig } from 'vitest/config';

// Real sockets and real processes: nothing leaves this machine.
const env = { KD_DISCOVERY: 'off' };

export default defineConfig({
  test: {
    // Two files at a time, whatever the machine. check.mjs takes three of those that mostly wait, for timers, processes and networks that are down.
    minWorkers: 1,
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{apps,packages}/*/{src,test}/**/*.test.ts', 'native/{lib,test}/**/*.test.ts'],
          env,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          env,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          // By `npm run soak` alone.
          name: 'soak',
          include: ['e2e/**/*.soak.ts'],
          env,
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
