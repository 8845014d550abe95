// SPDX-License-Identifier: MPL-2.0

// Prints the part of CHANGELOG.md about one version, for the text of a release; fails without one.
//   node scripts/release-notes.mjs VERSION
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** @param changelog  with a heading `## VERSION`, or `## VERSION, DATE`, for each version */
export function notesOf(version, changelog) {
  const parts = changelog.split(/^## /m).slice(1);
  const part = parts.find((each) => /^\S+?(?=,?\s)/.exec(each)?.[0] === version);
  const text = part?.slice(part.indexOf('\n')).trim();
  if (!text) throw new Error(`CHANGELOG.md has nothing about ${version}: rename "Unreleased", and begin a new one`);
  return `${text}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
    process.stdout.write(notesOf(process.argv[2] ?? '', changelog));
  } catch (error) {
    console.error(`release-notes: ${error.message}`);
    process.exitCode = 1;
  }
}
