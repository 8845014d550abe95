// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { load } from './binding.ts';

const built = fileURLToPath(new URL('../build/keibidrop.node', import.meta.url));
const nm = (...options: string[]) => execFileSync('nm', ['-D', ...options, built], { encoding: 'utf8' }).trim();

describe('load', () => {
  it('returns the exports of the first file that loads, and its path', () => {
    expect(load(['/nowhere/keibidrop.node', built])).toEqual({
      path: built,
      exports: expect.objectContaining({ FrameSealer: expect.any(Function) }),
    });
  });

  it('lists the paths it tried and each error', () => {
    const directory = mkdtempSync(join(tmpdir(), 'keibidrop-binding-'));
    const broken = join(directory, 'keibidrop.node');
    writeFileSync(broken, 'not an addon');
    const attempt = () => load(['/nowhere/keibidrop.node', broken]);
    expect(attempt).toThrow(expect.objectContaining({ code: 'PROGRAM_INCOMPLETE' }));
    expect(attempt).toThrow('/nowhere/keibidrop.node: not there');
    expect(attempt).toThrow(/keibidrop\.node: .*(invalid ELF header|file too short)/);
    rmSync(directory, { recursive: true });
  });
});

describe('the addon', () => {
  it('exports only its two entry points', () => {
    const shown = nm('--defined-only')
      .split('\n')
      .map((line) => line.split(' ').at(-1));
    expect(shown.sort()).toEqual(['napi_register_module_v1', 'node_api_module_get_api_version_v1']);
  });

  it('uses no libcrypto symbols of the process that loads it', () => {
    expect(nm('--undefined-only')).not.toMatch(/\b(EVP|OPENSSL|CRYPTO|OSSL|HMAC|SHA|AES|ERR|RAND)_/i);
  });
});
