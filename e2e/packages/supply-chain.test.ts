// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, Sandbox } from '../harness/sandbox.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.open();
});
afterAll(() => sandbox.close());

/** Runs a module that may use ROOT, and returns its output. */
const script = (source: string) =>
  run(process.execPath, '--input-type=module', '--eval', source.replaceAll('ROOT', JSON.stringify(ROOT)));
const module = (name: string) => JSON.stringify(pathToFileURL(join(ROOT, 'scripts', name)));

describe('the licences of others', () => {
  it('are those of what a build contains (else: node scripts/notices.mjs)', async () => {
    const generated = script(
      `import { projectNotices } from ${module('notices.mjs')}; process.stdout.write(projectNotices(ROOT));`,
    );
    expect(await readFile(join(ROOT, 'THIRD-PARTY-NOTICES'), 'utf8')).toBe(generated);
  });
});

describe('the bundle', () => {
  it('has the same bytes when it is built again, and does not name this checkout', async () => {
    const dist = join(ROOT, 'apps/cli/dist');
    run(process.execPath, join(ROOT, 'scripts/bundle.mjs'), '--out', sandbox.path('again'));
    const digests = async (folder: string) => {
      const names = (await readdir(folder)).filter((name) => /\.(cjs|json)$/.test(name)).sort();
      return Promise.all(
        names.map(async (name) => {
          const text = await readFile(join(folder, name), 'utf8');
          if (name.endsWith('.cjs')) expect(text.includes(ROOT), name).toBe(false);
          return [name, createHash('sha256').update(text).digest('hex')];
        }),
      );
    };
    expect(await digests(sandbox.path('again'))).toEqual(await digests(dist));
  });
});

describe('a build for a release', () => {
  it("refuses the system's libcrypto", () => {
    const options = ['-G', 'Ninja', '-DKEIBI_RELEASE=ON', '-DKEIBI_ADDON=OFF', '-DOPENSSL_ROOT_DIR=/usr'];
    const { status, stderr } = spawnSync(
      'cmake',
      ['-S', join(ROOT, 'native'), '-B', sandbox.path('cmake'), ...options],
      {
        encoding: 'utf8',
      },
    );
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/A release does not link the libcrypto of '\/usr'/);
  });

  it('is asked for by the script that builds for packages', async () => {
    expect(await readFile(join(ROOT, 'scripts/cross'), 'utf8')).toContain('-DKEIBI_RELEASE=ON');
  });
});

describe('the notes of a release', () => {
  it('are the part of the changelog about its version, and are not empty', () => {
    const notes = (version: string) =>
      script(
        `import { notesOf } from ${module('release-notes.mjs')};
         const log = '# Changelog\\n\\n## Unreleased\\n\\n- new\\n\\n## 1.2.0, 2026-11-01\\n\\n- old\\n\\n## 1.1.0\\n\\n';
         try { process.stdout.write(notesOf('${version}', log)); } catch (error) { process.stdout.write(error.message); }`,
      );
    expect(notes('1.2.0')).toBe('- old\n');
    expect(notes('1.1.0')).toContain('nothing about 1.1.0');
    expect(notes('1.2')).toContain('nothing about 1.2');
  });
});
