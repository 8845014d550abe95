// SPDX-License-Identifier: MPL-2.0
import { defineConfig } from 'vitest/config';

// Real sockets and real processes: nothing leaves this machine.
const env = { KD_DISCOVERY: 'off' };

export default defineConfig({
  test: {
    // Three files at a time, whatever the machine: most tests wait, for timers, processes and networks that are down.
    minWorkers: 1,
    maxWorkers: 3,
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
    ],
  },
});
