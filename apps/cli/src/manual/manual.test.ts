// SPDX-License-Identifier: MPL-2.0
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRecordedIo } from '../../test/recorded-io.ts';
import { defineProgram, withSubcommands } from '../completion/definitions.ts';
import { TOPICS } from '../help/topics.ts';
import { createProgram } from '../program.ts';
import { manualPage } from './manual.ts';

const program = createProgram(createRecordedIo(), async () => {});
const has = (tool: string) => spawnSync('which', [tool]).status === 0;

describe('the manual page', () => {
  let folder: string;
  let page: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keibidrop-manual-'));
    page = join(folder, 'keibidrop.1');
    writeFileSync(page, manualPage(program, '1.2.3'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.skipIf(!has('mandoc'))('has no flaw that mandoc finds', () => {
    const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', page], { encoding: 'utf8' });
    // The same program gives the same page, so it has no date.
    expect(stdout.split('\n').filter((line) => !line.includes('missing date'))).toEqual(['']);
  });

  it.skipIf(!has('man') || !has('groff'))('is shown by man without warnings, with every option and topic', () => {
    const env = { ...process.env, MANWIDTH: '120', LC_ALL: 'C.UTF-8' };
    const { stdout, stderr } = spawnSync('man', ['--warnings', '--local-file', page], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    for (const { path, options } of withSubcommands(defineProgram(program, []))) {
      if (path.length > 0) expect(stdout).toContain(`keibidrop ${path.join(' ')}`);
      for (const { flags } of path.length > 0 ? options : []) expect(stdout).toContain(flags.at(-1));
    }
    expect(stdout.match(/^ +Exit codes:/gm)).toHaveLength(program.commands.length);
    for (const { text } of Object.values(TOPICS)) expect(stdout).toContain(text.split('\n')[2]);
  });

  it.skipIf(!has('lexgrog'))('has a name that man -k finds', () => {
    expect(execFileSync('lexgrog', [page], { encoding: 'utf8' })).toContain('keibidrop - send files');
  });
});
