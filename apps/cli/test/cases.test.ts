// SPDX-License-Identifier: MPL-2.0
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { describe, expect, it, vi } from 'vitest';
import { start } from './program.ts';

vi.setConfig({ testTimeout: 30_000 });

const folder = fileURLToPath(new URL('cases', import.meta.url));

/** One command line and its expected result, run in an empty folder that is also its home. */
interface Case {
  name: string;
  args: string[];
  env?: Record<string, string>;
  /** Files to create first, by path in that folder. */
  files?: Record<string, string>;
  stdin?: string;
  exit: number;
  /** Regular expressions, each of which must match somewhere; `^` and `$` are the ends of lines. Undefined: the output must be empty. */
  stdout?: string[];
  stderr?: string[];
  /** Every line of stdout is a JSON object with `event`. */
  json?: boolean;
}

for (const file of await readdir(folder)) {
  const { case: cases } = parse(await readFile(join(folder, file), 'utf8')) as unknown as { case: Case[] };
  describe(file, () => {
    it.concurrent.each(cases)('$name', async (golden) => {
      const { stdout, stderr, exit } = await run(golden);
      const where = `stdout:\n${stdout}\nstderr:\n${stderr}`;
      expect(exit, where).toBe(golden.exit);
      assertMatches(stdout, golden.stdout);
      assertMatches(stderr, golden.stderr);
      if (golden.json)
        for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('event');
    });
  });
}

function assertMatches(text: string, patterns: string[] = []): void {
  if (patterns.length === 0) expect(text).toBe('');
  for (const pattern of patterns) expect(text).toMatch(new RegExp(pattern, 'm'));
}

async function run({ args, env, files = {}, stdin }: Case) {
  const home = await mkdtemp(join(tmpdir(), 'keibidrop-case-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), text);
    }
    const running = start(args, home, { ...(env && { env }), ...(stdin && { stdin }) });
    const exit = await running.ended;
    return { ...running.printed, exit };
  } finally {
    await rm(home, { recursive: true });
  }
}
