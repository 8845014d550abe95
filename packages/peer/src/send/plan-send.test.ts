// SPDX-License-Identifier: MPL-2.0
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planSend } from './plan-send.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keibi-plan-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

async function plan(selection?: { exclude?: string; gitignore?: boolean }) {
  const files: string[] = [];
  const onEntry = (path: string, { type }: { type: string }) => {
    if (type !== 'directory') files.push(path.slice(path.indexOf('/') + 1));
  };
  const signal = new AbortController().signal;
  return { ...(await planSend({ paths: [folder], selection, signal, onEntry })), paths: files.sort() };
}

/** The files that git would take, below the folder. */
function takenByGit(): string[] {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const words = ['ls-files', '-z', '--others', '--exclude-standard'];
  return execFileSync('git', words, { cwd: folder, env, encoding: 'utf8' }).split('\0').filter(Boolean).sort();
}

describe('a plan', () => {
  it('counts what a send would offer', async () => {
    write({ 'a/b': 'four', c: '' });
    symlinkSync('c', join(folder, 'link'));
    expect(await plan()).toMatchObject({ files: 2, directories: 2, symlinks: 1, bytes: 4, leftOut: 0, failed: [] });
  });

  it('names what cannot be sent', async () => {
    const server = createServer().listen(join(folder, 'socket'));
    expect((await plan()).unsupported).toEqual([expect.stringMatching(/socket$/)]);
    server.close();
  });

  it('ends when its signal aborts', async () => {
    await expect(planSend({ paths: [folder], signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow('over');
  });
});

describe('a selection', () => {
  it('leaves out by patterns, and counts a folder as one name', async () => {
    write({ 'build/x': '', 'build/y': '', 'src/a.tmp': '', 'src/b': '' });
    expect(await plan({ exclude: 'build/\n*.tmp' })).toMatchObject({ paths: ['src/b'], leftOut: 2 });
  });

  it('with more patterns than are allowed is refused', async () => {
    await expect(plan({ exclude: 'x'.repeat(2 ** 16 + 1) })).rejects.toMatchObject({ code: 'USAGE' });
  });

  const word = fc.constantFrom('a', 'b', 'ab', '*', '?', '[ab]', '[!a]', '**', 'a*', '\\a', 'a?', '*b');
  const pattern = fc
    .tuple(
      fc.constantFrom('', '', '!', '/', '!/'),
      fc.array(word, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '', '/'),
    )
    .map(([before, words, after]) => before + words.join('/') + after);
  const ignoreFile = fc.array(pattern, { maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`);
  const names = ['a', 'b', 'ab', 'c'];

  it('with gitignore takes the files that git takes', async () => {
    for (const one of names)
      for (const two of names)
        write({
          [`d/${one}.d/${two}`]: '',
          [`${one}.d/${two}.d/${one}`]: '',
          [`a/${one}/${two}`]: '',
          [`ab/${two}`]: '',
        });
    execFileSync('git', ['init', '--quiet', folder]);
    const runs = fc.asyncProperty(ignoreFile, ignoreFile, async (top, inner) => {
      write({ '.gitignore': top, 'a/.gitignore': inner });
      expect((await plan({ exclude: '/.git', gitignore: true })).paths).toEqual(takenByGit());
    });
    await fc.assert(runs, { numRuns: 150 });
  });
});
