// SPDX-License-Identifier: MPL-2.0
import { describeSource } from '../../test/source-contract.ts';
import { describeSourceWrites } from '../../test/source-writes-contract.ts';
import { LocalSource } from '../index.ts';

describeSource('LocalSource', async (folder) => new LocalSource(folder));
describeSourceWrites('LocalSource, written', async (folder) => new LocalSource(folder));
