// SPDX-License-Identifier: MPL-2.0

// Loaded into a process under test with `node --import`: appends V8's memory use to KD_TEST_MEMORY_FILE ten times a
// second.
import { appendFileSync } from 'node:fs';

const file = process.env.KD_TEST_MEMORY_FILE;

function sample() {
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  appendFileSync(file, `${JSON.stringify({ at: performance.now(), heapUsed, external, arrayBuffers, rss })}\n`);
}

setInterval(sample, 100).unref();
