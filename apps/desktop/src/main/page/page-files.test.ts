// SPDX-License-Identifier: MPL-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileAt } from './page-files.ts';

let above: string;
beforeAll(() => {
  above = mkdtempSync(join(tmpdir(), 'keibidrop-page-'));
  mkdirSync(join(above, 'page', 'assets'), { recursive: true });
  mkdirSync(join(above, 'page-of-another'));
  writeFileSync(join(above, 'secret.html'), 'secret');
  writeFileSync(join(above, 'page-of-another', 'a.html'), 'secret');
  writeFileSync(join(above, 'page', 'index.html'), 'page');
  writeFileSync(join(above, 'page', 'assets', 'a b.js'), 'script');
  writeFileSync(join(above, 'page', '.env'), 'secret');
});
afterAll(() => rmSync(above, { recursive: true }));

describe('the page', () => {
  it.each<[string, number, string]>([
    ['keibidrop-app://window/index.html', 200, 'page'],
    ['keibidrop-app://window/index.html?x#y', 200, 'page'],
    ['keibidrop-app://window/assets/a%20b.js', 200, 'script'],
    ['keibidrop-app://window/', 404, 'Not found.\n'],
    ['keibidrop-app://window/assets', 404, 'Not found.\n'],
    ['keibidrop-app://window/../secret.html', 404, 'Not found.\n'],
    ['keibidrop-app://window/..%2fsecret.html', 404, 'Not found.\n'],
    ['keibidrop-app://window/assets/..%2f..%2fsecret.html', 404, 'Not found.\n'],
    ['keibidrop-app://window/..%2fpage-of-another%2fa.html', 404, 'Not found.\n'],
    ['keibidrop-app://window/.env', 404, 'Not found.\n'],
    ['keibidrop-app://window/index.html%00.js', 404, 'Not found.\n'],
    ['keibidrop-app://window/%E0%A4%A', 404, 'Not found.\n'],
    ['keibidrop-app://other/index.html', 404, 'Not found.\n'],
    ['file:///etc/passwd', 404, 'Not found.\n'],
    ['nonsense', 404, 'Not found.\n'],
  ])('answers %s with %i', async (address, status, text) => {
    const served = await fileAt(join(above, 'page'), address);
    expect([served.status, served.body.toString()]).toEqual([status, text]);
    expect(served.headers['content-security-policy']).toContain("default-src 'none'");
  });
});
