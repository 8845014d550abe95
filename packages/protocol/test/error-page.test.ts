// SPDX-License-Identifier: MPL-2.0
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Retry } from '../src/error-row.ts';
import { ERROR_CODES, type ErrorCode, rowOf } from '../src/error-table.ts';

const PAGE = fileURLToPath(new URL('../../../docs/errors.md', import.meta.url));
const COLUMNS = 100;

const EXITS: Record<number, string> = {
  1: 'failed',
  2: 'usage',
  3: 'refused, or a wrong code',
  4: 'peer, server or daemon not reachable',
  5: 'interrupted, and can be resumed',
  6: 'mount not available',
  70: 'a bug of ours',
  130: 'Ctrl-C',
};

const RETRIES: Record<Retry, string> = { never: '', later: ' _(later)_', reconnect: ' _(reconnects)_' };

const INTRODUCTION = `# Errors

Each error has a code, an exit code and a text. The text says what happened and what to do next, and
often names the file or the address too. With \`--json\` the code is in the field \`code\`.

A code never changes its meaning, and later versions may add some: programs treat an unknown code by
its exit code.

- _(later)_: the same command can succeed later without a change.
- _(reconnects)_: KeibiDrop itself tries again for a while (\`KD_PATIENCE\`) before it reports this.

This page is written from the source: \`npm run test:unit -- packages/protocol/test/error-page -u\`.
`;

function page(): string {
  const sections = Object.entries(EXITS).map(([exit, meaning]) => {
    const codes = ERROR_CODES.filter((code) => rowOf(code).exit === Number(exit));
    return `\n## Exit ${exit}: ${meaning}\n\n${codes.map(item).join('')}`;
  });
  return INTRODUCTION + sections.join('');
}

function item(code: ErrorCode): string {
  const { retry, text } = rowOf(code);
  return `${wrapped(`- \`${code}\`${RETRIES[retry]}: ${text}`)}\n`;
}

/** Breaks a list item into lines of at most COLUMNS. */
function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 1 > COLUMNS) lines.push(`  ${word}`);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}

it('docs/errors.md has each error of the table', async () => {
  for (const code of ERROR_CODES) expect(EXITS, code).toHaveProperty(`${rowOf(code).exit}`);
  await expect(page()).toMatchFileSnapshot(PAGE);
});
