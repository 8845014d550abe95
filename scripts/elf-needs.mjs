// SPDX-License-Identifier: MPL-2.0

// Reads the libraries and the symbol versions that a Linux program or library needs.
//   node scripts/elf-needs.mjs [--libc glibc|musl] FILE...    prints every need beyond the floor; fails if there is one
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Needs that each C library meets. glibc is that of Node 20, and so of every system that runs us; musl has no versions. */
const FLOORS = {
  glibc: {
    versions: { GLIBC: [2, 28] },
    libraries: /^(lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux-(x86-64|aarch64)\.so\.\d)$/,
  },
  musl: { versions: {}, libraries: /^(libc\.so|libc\.musl-\w+\.so\.1)$/ },
};

/** @returns `libraries`, and `versions`, each as [name, numbers] */
export function elfNeeds(path) {
  const readelf = (...options) =>
    execFileSync('readelf', ['--wide', ...options, path], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  const libraries = [...readelf('--dynamic').matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name]) => name);
  const versions = [...readelf('--version-info').matchAll(/Name: ([A-Z]+)_([\d.]+)\s+Flags/g)];
  return { libraries, versions: versions.map(([, name, numbers]) => [name, numbers.split('.').map(Number)]) };
}

/** Each thing that a file asks of a system beyond the C library of the floor. */
export function beyondFloor({ libraries, versions }, libc = 'glibc') {
  const floor = FLOORS[libc];
  const strange = libraries.filter((name) => !floor.libraries.test(name)).map((name) => `it needs ${name}`);
  const late = versions.filter(
    ([name, numbers]) => !(name in floor.versions) || isAfter(numbers, floor.versions[name]),
  );
  return [...strange, ...late.map(([name, numbers]) => `it needs ${name}_${numbers.join('.')}`)];
}

function isAfter(one, other) {
  const at = one.findIndex((number, index) => number !== (other[index] ?? 0));
  return at >= 0 && one[at] > (other[at] ?? 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({ options: { libc: { type: 'string' } }, allowPositionals: true });
  const needs = (path) => beyondFloor(elfNeeds(path), values.libc).map((need) => `${path}: ${need}`);
  const beyond = positionals.flatMap(needs);
  for (const line of beyond) console.error(line);
  process.exitCode = beyond.length === 0 ? 0 : 1;
}
