// SPDX-License-Identifier: MPL-2.0
import { describeSource } from '../test/source-contract.ts';
import { LocalSource } from './index.ts';

describeSource('LocalSource', async (folder) => new LocalSource(folder));
