// SPDX-License-Identifier: MPL-2.0
import { describeBackend } from '../test/backend-contract.ts';
import { describeBackendWrites } from '../test/backend-writes-contract.ts';
import { usableBackend } from './index.ts';

const reason = await usableBackend('native').then(
  () => undefined,
  (failure: Error) => failure.message,
);
if (reason !== undefined) console.warn(`SKIPPED: nothing can be mounted here. ${reason}`);
else {
  describeBackend('native', {});
  describeBackendWrites('native', {});
}
