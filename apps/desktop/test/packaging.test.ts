// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const CONFIGURATION = fileURLToPath(new URL('../electron-builder.yml', import.meta.url));

/** The parts of electron-builder that read and validate its configuration. */
function builder() {
  const builders = createRequire(createRequire(import.meta.url).resolve('electron-builder/package.json'));
  const library = createRequire(builders.resolve('app-builder-lib/package.json'));
  const { validateConfiguration } = library('app-builder-lib/out/util/config/config.js');
  const { DebugLogger } = library('builder-util');
  const { load } = library('js-yaml');
  return {
    read: (text: string): Record<string, unknown> => load(text),
    check: (configuration: object): Promise<void> => validateConfiguration(configuration, new DebugLogger(false)),
  };
}

it('has a configuration that electron-builder accepts, with every way to run other code switched off', async () => {
  const { read, check } = builder();
  const configuration = read(readFileSync(CONFIGURATION, 'utf8'));
  await check(configuration);
  await expect(check({ ...configuration, asarr: true })).rejects.toThrow('asarr');
  expect(configuration).toMatchObject({
    asar: true,
    electronFuses: {
      runAsNode: false,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
    },
  });
});
