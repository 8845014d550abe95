// SPDX-License-Identifier: MPL-2.0
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandDefinition, defineProgram, withSubcommands } from '../src/completion/definitions.ts';
import { createProgram } from '../src/program.ts';
import { program } from './program.ts';
import { createRecordedIo } from './recorded-io.ts';
import { TypedShell } from './typed-shell.ts';

// Real shells complete what people type, on real terminals. scripts/setup --tests installs them.
const installed = (shell: string) => spawnSync(shell, ['--version']).status === 0;

const CONTACT = `Ann "A." O'Lee`;
const ODD = `odd $name's (1) "x" 🎈.txt`;
const COMMANDS = withSubcommands(
  defineProgram(
    createProgram(createRecordedIo(), async () => {}),
    [],
  ),
);

let home: string;
let env: NodeJS.ProcessEnv;
const path = (...names: string[]) => join(home, ...names);

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'keibidrop-shells-'));
  await mkdir(path('bin'));
  await mkdir(path('work/downloads here'), { recursive: true });
  await writeFile(path('bin/keibidrop'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  await chmod(path('bin/keibidrop'), 0o755);
  const search = `${path('bin')}:${process.env.PATH}`;
  env = { PATH: search, HOME: home, XDG_RUNTIME_DIR: home, ZDOTDIR: path('zsh'), LANG: 'C.UTF-8', TERM: 'xterm' };
  run('keibidrop', 'contacts', 'add', CONTACT, 'A'.repeat(86));
  for (const name of [ODD, 'downloads.txt']) await writeFile(path('work', name), '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    await writeFile(path(`completion.${shell}`), run('keibidrop', 'completion', shell));
  }
});
afterAll(() => rm(home, { recursive: true }));

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { env, cwd: path('work'), encoding: 'utf8' });
}

/** The words that a shell makes of a completed line. */
function wordsIn(shell: string, line: string): string[] {
  return run(shell, '-c', line.replace('keibidrop', "printf '%s\\n'")).trimEnd().split('\n');
}

const flagsOf = ({ options }: CommandDefinition): string[] => options.flatMap(({ flags }) => flags).sort();
const lineOf = ({ path: words }: CommandDefinition) => ['keibidrop', ...words].join(' ');

/** Lines as typed before Tab, and their words after it. */
const LINES: readonly [string, readonly string[]][] = [
  ['keibidrop rece', ['receive']],
  ['keibidrop send --recei', ['send', '--receivers']],
  ['keibidrop send --suite ch', ['send', '--suite', 'chacha20-poly1305']],
  ['keibidrop send --suite=ch', ['send', '--suite=chacha20-poly1305']],
  ['keibidrop send --discovery o', ['send', '--discovery', 'off']],
  ['keibidrop contacts ver', ['contacts', 'verify']],
  ['keibidrop contacts --js', ['contacts', '--json']],
  ['keibidrop transfers pau', ['transfers', 'pause']],
  ['keibidrop completion fi', ['completion', 'fish']],
  ['keibidrop help sen', ['help', 'send']],
  ['keibidrop help cod', ['help', 'codes']],
  ['keibidrop help fire', ['help', 'firewalls']],
  ['keibidrop send odd', ['send', ODD]],
  ['keibidrop send --listen 127.0.0.1:0 odd', ['send', '--listen', '127.0.0.1:0', ODD]],
  ['keibidrop receive --out d', ['receive', '--out', 'downloads here/']],
  ['keibidrop receive --out=d', ['receive', '--out=downloads here/']],
  ['keibidrop receive -o d', ['receive', '-o', 'downloads here/']],
  ['keibidrop mount 7-guitar-pencil d', ['mount', '7-guitar-pencil', 'downloads here/']],
  ['keibidrop send --to An', ['send', '--to', CONTACT]],
  ['keibidrop send --to=An', ['send', `--to=${CONTACT}`]],
  ['keibidrop connect An', ['connect', CONTACT]],
  ['keibidrop contacts rule Bob acc', ['contacts', 'rule', 'Bob', 'accept']],
];

/** Lines with nothing to complete: a code, a name after the last option, and a file where a folder belongs. */
const FINAL = ['keibidrop receive 7-', 'keibidrop send -- --rece'];
const NO_FOLDER = 'keibidrop receive --out downloads.';

describe('bash', () => {
  let bash: TypedShell;
  beforeAll(async () => {
    const show = `bind -x '"\\C-t": printf "\\n[[%s]]\\n" "$READLINE_LINE"'`;
    await writeFile(path('bashrc'), `. '${path('completion.bash')}'\n${show}\nPS1='READY '\n`);
    bash = await TypedShell.start(`bash --noprofile --rcfile '${path('bashrc')}' -i`, { cwd: path('work'), env });
  });
  afterAll(() => bash.close());

  it.each([...LINES, ['keibidrop send --to "An', ['send', '--to', CONTACT]] as const])(
    'completes %s',
    async (typed, words) => {
      expect(wordsIn('bash', await bash.complete(typed))).toEqual(words);
    },
  );

  it.each([...FINAL, NO_FOLDER])('leaves %s as it is', async (line) => expect(await bash.complete(line)).toBe(line));

  it('offers every option of every command, and nothing else', () => {
    const asked = COMMANDS.map(
      (one) => `COMP_WORDS=(${lineOf(one)} -); COMP_CWORD=${one.path.length + 1}; _keibidrop; echo "\${COMPREPLY[*]}"`,
    );
    const offered = run('bash', '-c', `. '${path('completion.bash')}'\n${asked.join('\n')}`)
      .split('\n')
      .slice(0, -1);
    expect(offered.map((line) => line.split(' ').filter(Boolean).sort())).toEqual(COMMANDS.map(flagsOf));
  });
});

describe.skipIf(!installed('zsh'))('zsh', () => {
  let zsh: TypedShell;
  beforeAll(async () => {
    const settings = `autoload -Uz compinit
compinit -u -D
. '${path('completion.zsh')}'
bindkey -e
show() { print -r -- $'\\n'"[[$BUFFER]]" }
zle -N show
bindkey '^T' show
zle -C all-matches complete-word _generic
bindkey '^X' all-matches
zstyle ':completion:all-matches::::' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert true
PS1='READY '
`;
    await mkdir(path('zsh'));
    await writeFile(path('zsh/.zshrc'), settings);
    zsh = await TypedShell.start('zsh -i', { cwd: path('work'), env });
  });
  afterAll(() => zsh.close());

  it.each(LINES)('completes %s', async (typed, words) => {
    const completed = await zsh.complete(typed);
    // It writes the = of an option that takes a value.
    expect(wordsIn('zsh', completed.replace(/=$/, ''))).toEqual(words);
  });

  it.each(FINAL)('leaves %s as it is', async (line) => expect(await zsh.complete(line)).toBe(line));

  it('offers every long option of every command, and nothing else', async () => {
    for (const one of COMMANDS) {
      const completed = await zsh.complete(`${lineOf(one)} --`, '\u0018');
      const offered = completed.split(' --').slice(1).filter(Boolean);
      const long = flagsOf(one).filter((flag) => flag.startsWith('--'));
      expect(offered.map((flag) => `--${flag.trim().replace(/=$/, '')}`).sort(), lineOf(one)).toEqual(long);
    }
  });

  it('works from a folder of fpath', async () => {
    await mkdir(path('functions'));
    await writeFile(path('functions/_keibidrop'), run('keibidrop', 'completion', 'zsh'));
    await mkdir(path('other'));
    const settings = `fpath=('${path('functions')}' $fpath)\nautoload -Uz compinit\ncompinit -u -D\n`;
    const show = `show() { print -r -- $'\\n'"[[$BUFFER]]" }\nzle -N show\nbindkey '^T' show\nPS1='READY '\n`;
    await writeFile(path('other/.zshrc'), settings + show);
    const other = await TypedShell.start('zsh -i', { cwd: path('work'), env: { ...env, ZDOTDIR: path('other') } });
    expect(await other.complete('keibidrop rece')).toBe('keibidrop receive ');
    expect(await other.complete('keibidrop unmo')).toBe('keibidrop unmount ');
    await other.close();
  });
});

describe.skipIf(!installed('fish'))('fish', () => {
  /** The words that fish would insert for each line, without the text that explains it. */
  function offeredFor(lines: readonly string[]): string[][] {
    const asked = lines.map((line) => `complete -C '${line.replace(/[\\']/g, '\\$&')}'; echo END`);
    const printed = run('fish', '--no-config', '-c', `source '${path('completion.fish')}'\n${asked.join('\n')}`);
    const blocks = printed.split('END\n').slice(0, -1);
    return blocks.map((block) => block.split('\n').flatMap((line) => line.split('\t').slice(0, 1).filter(Boolean)));
  }

  it('completes the same lines', () => {
    expect(offeredFor(LINES.map(([line]) => line))).toEqual(LINES.map(([, words]) => words.slice(-1)));
    expect(offeredFor([...FINAL, NO_FOLDER])).toEqual([[], [], []]);
  });

  it('offers every option of every command, and nothing else', () => {
    const offered = offeredFor(COMMANDS.map((one) => `${lineOf(one)} -`));
    expect(offered.map((flags) => flags.sort())).toEqual(COMMANDS.map(flagsOf));
  });
});
