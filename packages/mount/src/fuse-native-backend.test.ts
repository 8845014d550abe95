// SPDX-License-Identifier: MPL-2.0
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll } from 'vitest';
import { describeBackend } from '../test/backend-contract.ts';
import { describeBackendWrites } from '../test/backend-writes-contract.ts';
import { usableBackend } from './index.ts';

// Its host as it is now, not as it was bundled last.
const bundle = mkdtempSync(join(tmpdir(), 'keibi-host-'));
process.env.KD_FUSE_NATIVE_HOST = join(bundle, 'fuse-native-host.mjs');
await build({
  entryPoints: [fileURLToPath(new URL('../../fuse-native-host/src/main.ts', import.meta.url))],
  outfile: process.env.KD_FUSE_NATIVE_HOST,
  bundle: true,
  platform: 'node',
  format: 'esm',
  sourcemap: 'inline',
  logLevel: 'error',
});
afterAll(() => rmSync(bundle, { recursive: true }));

const DIFFERENCES = {
  timesInMilliseconds: true,
  takesAccessTimeForMtime: true,
  sharesPages: true,
  hidesWhatIsOpen: true,
  makesOnlyWhatIsNew: true,
  renamesPlainly: true,
  waitsAlsoIfKilled: true,
  waitsForEachAlone: true,
};

const reason = await usableBackend('fuse-native').then(
  () => undefined,
  (failure: Error) => failure.message,
);
if (reason !== undefined) console.warn(`SKIPPED: fuse-native mounts nothing here. ${reason}`);
else {
  describeBackend('fuse-native', DIFFERENCES);
  describeBackendWrites('fuse-native', DIFFERENCES);
}
