// SPDX-License-Identifier: MPL-2.0
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { missingNativePart, nativeFilePlaces } from './native-file.ts';

const ADDON = 'keibidrop.node';
const built = fileURLToPath(new URL('../build/keibidrop.node', import.meta.url));
const placesOf = (directory: string) => nativeFilePlaces(directory, undefined, ADDON);

let installed: string | undefined;
afterEach(() => {
  if (installed !== undefined) rmSync(installed, { recursive: true });
  installed = undefined;
});

/** Makes an npm installation with the packages `names` for this system. @returns its node_modules */
function install(...names: string[]): string {
  installed = realpathSync(mkdtempSync(join(tmpdir(), 'keibidrop-installed-')));
  const modules = join(installed, 'node_modules');
  for (const name of ['keibidrop', ...names]) {
    mkdirSync(join(modules, name, 'dist'), { recursive: true });
    writeFileSync(join(modules, name, 'package.json'), JSON.stringify({ name, version: '0.0.1' }));
  }
  return modules;
}

const SYSTEM = `${process.platform}-${process.arch}`;

describe('nativeFilePlaces', () => {
  it('finds the addon of a checkout, from native/lib and from a bundle in apps/cli/dist', () => {
    for (const from of ['native/lib', 'apps/cli/dist']) {
      expect(placesOf(fileURLToPath(new URL(`../../${from}`, import.meta.url)))).toContain(built);
    }
  });

  it('looks beside the running module first, and only at the named file if there is one', () => {
    expect(placesOf('/opt/keibidrop')[0]).toBe('/opt/keibidrop/keibidrop.node');
    expect(nativeFilePlaces('/opt/keibidrop', '/elsewhere/a.node', ADDON)).toEqual(['/elsewhere/a.node']);
  });

  it.runIf(process.platform === 'linux')("looks at the package of Node's C library alone if both are installed", () => {
    const modules = install(`@keibidrop/${SYSTEM}-gnu`, `@keibidrop/${SYSTEM}-musl`);
    const [fits] = /-(gnu|musl) /.exec(missingNativePart([]).message) ?? [];
    const packaged = placesOf(join(modules, 'keibidrop/dist')).filter((path) => path.includes('@keibidrop'));
    expect(packaged).toEqual([join(modules, `@keibidrop/${SYSTEM}${fits?.trim()}`, ADDON)]);
  });

  it.runIf(process.platform === 'linux')('looks at the package of either C library before any build', () => {
    for (const name of [`@keibidrop/${SYSTEM}-gnu`, `@keibidrop/${SYSTEM}-musl`]) {
      const modules = install(name);
      expect(placesOf(join(modules, 'keibidrop/dist'))[1]).toBe(join(modules, name, ADDON));
      rmSync(dirname(modules), { recursive: true });
    }
    installed = undefined;
  });

  it('lists no package where none is installed', () => {
    const modules = install();
    expect(placesOf(join(modules, 'keibidrop/dist')).join()).not.toContain('@keibidrop');
    expect(dirname(modules)).toBe(installed);
  });
});

describe('missingNativePart', () => {
  it('names the missing package, and the places it was looked for', () => {
    const error = missingNativePart(['/a/keibidrop.node: not there'], 'linux-x64-gnu');
    expect(error).toMatchObject({ code: 'PROGRAM_INCOMPLETE' });
    expect(error.message).toContain('optional dependency @keibidrop/linux-x64-gnu');
    expect(error.message).toContain('/a/keibidrop.node: not there');
  });

  it('names the platforms that have a package if this one has none', () => {
    const error = missingNativePart([], 'linux-riscv64-gnu');
    expect(error).toMatchObject({ code: 'PLATFORM_UNSUPPORTED' });
    expect(error.message).toMatch(/^linux-riscv64-gnu \(there are packages for linux-x64-gnu, .*win32-x64\)$/);
  });

  it('names the current platform with its C library', () => {
    expect(missingNativePart([]).message).toContain(process.platform === 'linux' ? `${SYSTEM}-` : SYSTEM);
  });
});
