// SPDX-License-Identifier: MPL-2.0
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './sandbox.ts';

const TOOLS = fileURLToPath(new URL('../tools/', import.meta.url));

/** The program of `e2e/tools/NAME.cc`, compiled if its source is newer. */
export function builtTool(name: 'linkem' | 'without_bbr'): string {
  const source = `${TOOLS}${name}.cc`;
  const program = `${TOOLS}build/${name}`;
  const built = statSync(program, { throwIfNoEntry: false });
  if (built && built.mtimeMs > statSync(source).mtimeMs) return program;
  mkdirSync(`${TOOLS}build`, { recursive: true });
  // Another worker may compile the same program now, so rename it into place.
  const fresh = `${program}.${process.pid}`;
  run('c++', '-std=c++20', '-O2', '-pthread', '-o', fresh, source);
  renameSync(fresh, program);
  return program;
}
