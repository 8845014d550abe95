// SPDX-License-Identifier: MPL-2.0
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastOf, run, Sandbox, type StartOptions } from '../harness/sandbox.ts';
import { until } from './own-window.ts';

const exec = promisify(execFile);
const NAMES = ['two words.txt', '-rf 🎈', 'two\nlines', `it's $HOME "100%"`];
const FILES = [
  'Thunar/sendto/keibidrop-send.desktop',
  'applications/org.keibidrop.KeibiDrop.desktop',
  'icons/hicolor/256x256/apps/keibidrop.png',
  'icons/hicolor/scalable/apps/keibidrop.svg',
  'kio/servicemenus/keibidrop-send.desktop',
  'nautilus/scripts/Send with KeibiDrop',
  'nemo/actions/keibidrop-send.nemo_action',
];

describe('keibidrop integrate', () => {
  let sandbox: Sandbox;
  let data: string;
  let folder: string;
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    data = sandbox.path('data home');
    folder = sandbox.path('a folder');
    await mkdir(folder);
    for (const name of NAMES) await writeFile(`${folder}/${name}`, `content of ${name}`);
  });
  afterAll(async () => {
    await (await sandbox.start(['stop'], options())).ended;
    await sandbox.close();
  });

  const environment = () => ({
    XDG_DATA_HOME: data,
    XDG_CONFIG_HOME: sandbox.path('config-home'),
    XDG_CACHE_HOME: sandbox.path('cache-home'),
    KD_LISTEN: '127.0.0.1:0',
  });
  const options = (): StartOptions => ({ env: environment() });

  async function integrate(...args: string[]): Promise<Record<string, unknown>> {
    const running = await sandbox.start(['integrate', '--json', ...args], options());
    expect(await running.ended, running.stderr).toBe(0);
    return Object.fromEntries(running.events().map(({ path, outcome }) => [String(path), outcome]));
  }

  /** Every file below the home but those of the daemon and of this test. */
  async function present(): Promise<string[]> {
    const all = await readdir(sandbox.home, { recursive: true, withFileTypes: true });
    const paths = all.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`);
    const within = (path: string) => ['/run-', '/a folder/', '/out'].some((part) => path.includes(sandbox.home + part));
    return paths.filter((path) => !within(path) && !path.endsWith('/mimeinfo.cache')).sort();
  }

  it('writes its files below the XDG directories, once, and keeps a file of someone else', async () => {
    const foreign = `${data}/nemo/actions/keibidrop-send.nemo_action`;
    await mkdir(`${data}/nemo/actions`, { recursive: true });
    await writeFile(foreign, '[Nemo Action]\n');
    const first = await integrate();
    expect(first[foreign]).toBe('kept');
    expect(await readFile(foreign, 'utf8')).toBe('[Nemo Action]\n');
    await writeFile(foreign, await readFile(`${data}/Thunar/sendto/keibidrop-send.desktop`));

    const second = await integrate('--autostart');
    expect(second[foreign]).toBe('written');
    expect(Object.values(await integrate('--autostart')).every((outcome) => outcome === 'unchanged')).toBe(true);
    const autostart = `${sandbox.path('config-home')}/autostart/keibidrop.desktop`;
    expect(await present()).toEqual(Object.keys(second).sort());
    expect(await present()).toEqual(expect.arrayContaining([...FILES.map((path) => `${data}/${path}`), autostart]));
    for (const entry of [FILES[0], FILES[1]]) run('desktop-file-validate', `${data}/${entry}`);
    run('desktop-file-validate', autostart);
    expect((await stat(`${data}/nautilus/scripts/Send with KeibiDrop`)).mode & 0o111).toBe(0o111);
  });

  it('makes the menu entry open links', async () => {
    expect(await readFile(`${data}/applications/mimeinfo.cache`, 'utf8')).toContain(
      'x-scheme-handler/keibidrop=org.keibidrop.KeibiDrop.desktop;',
    );
  });

  /** Runs the action of a file manager on `names` of the folder, as that file manager does. */
  const managers: Record<string, (paths: string[]) => Promise<unknown>> = {
    // Nautilus: names as arguments, in their folder.
    Nautilus: (paths) =>
      exec(`${data}/nautilus/scripts/Send with KeibiDrop`, paths.map(nameOf), { cwd: folder, env: processEnv() }),
    // Nemo: addresses in double quotes, in a line that it splits as a shell does.
    Nemo: async (paths) => {
      const action = await readFile(`${data}/nemo/actions/keibidrop-send.nemo_action`, 'utf8');
      const line = keyOf(action, 'Exec').replaceAll('\\\\', '\\');
      const addresses = paths.map((path) => `"${pathToFileURL(path).href.replaceAll('$', '\\$')}"`).join(' ');
      return exec('sh', ['-c', line.replace('%U', () => addresses)], { env: processEnv() });
    },
    // Dolphin and Thunar: a command line of a desktop entry.
    Dolphin: async (paths) => {
      const menu = await readFile(`${data}/kio/servicemenus/keibidrop-send.desktop`, 'utf8');
      const entry = sandbox.path('run-dolphin.desktop');
      await writeFile(entry, `[Desktop Entry]\nType=Application\nName=x\nExec=${keyOf(menu, 'Exec')}\n`);
      return exec('gio', ['launch', entry, ...paths], { env: processEnv() });
    },
    Thunar: (paths) =>
      exec('gio', ['launch', `${data}/Thunar/sendto/keibidrop-send.desktop`, ...paths], { env: processEnv() }),
  };
  const nameOf = (path: string) => path.slice(folder.length + 1);
  const processEnv = () => ({
    PATH: process.env.PATH,
    HOME: sandbox.home,
    XDG_RUNTIME_DIR: sandbox.path(`run-${process.getuid?.()}`),
    KD_CONFIG_DIR: sandbox.path(`run-${process.getuid?.()}`, 'config'),
    KD_DISCOVERY: 'off',
    ...(process.env.KD_NATIVE_BINDING && { KD_NATIVE_BINDING: process.env.KD_NATIVE_BINDING }),
    ...environment(),
  });

  it.each(Object.entries(managers))(
    'sends files from %s with any name, without Electron and screen',
    async (name, send) => {
      await send(NAMES.map((each) => `${folder}/${each}`));
      const code = await until(async () => {
        const transfers = await sandbox.start(['transfers', '--json'], options());
        await transfers.ended;
        const { transfers: list } = lastOf(transfers) as unknown as { transfers: { state: string; code?: string }[] };
        const waiting = list.find(({ state, code }) => state === 'waiting' && code !== undefined);
        if (waiting === undefined) throw new Error(transfers.stdout);
        return waiting.code ?? '';
      });
      const out = `out-${name}`;
      const args = ['receive', code, '--yes', '--json', '--out', out];
      const receiver = await sandbox.start(args, options());
      expect(await receiver.ended, receiver.stdout).toBe(0);
      expect((await readdir(sandbox.path(out))).sort()).toEqual([...NAMES].sort());
      for (const each of NAMES) expect(await readFile(sandbox.path(out, each), 'utf8')).toBe(`content of ${each}`);
    },
  );

  it('removes what it wrote, and nothing else', async () => {
    const foreign = `${data}/nemo/actions/other.nemo_action`;
    await writeFile(foreign, '[Nemo Action]\n');
    const removed = await integrate('--remove');
    expect(Object.values(removed).every((outcome) => outcome === 'removed')).toBe(true);
    expect(await present()).toEqual([foreign]);
    expect(await readFile(`${data}/applications/mimeinfo.cache`, 'utf8')).not.toContain('KeibiDrop');
  });
});

/** Value of a key of a key file. */
function keyOf(text: string, key: string): string {
  return new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1] ?? '';
}
