// SPDX-License-Identifier: MPL-2.0

/** One command of a session in a document, with its expected output. */
export interface ShownCommand {
  /** `alice` of `alice$ keibidrop …`. */
  who: string;
  /** Its words; a word in <angle brackets> is replaced by an earlier output. */
  words: string[];
  /** The line ends with `&`: the command runs while the next ones do. */
  inBackground: boolean;
  /** JSON lines in order; other lines may come between them. */
  shown: Record<string, unknown>[];
  /** The number of a line `(exit 4)`; 0 without one. */
  exit: number;
}

const BLOCK = /```console\n([\s\S]*?)```/g;
const PROMPT = /^(\w+)\$ (.*)$/;

/** Reads every `console` block of a document as one session. */
export function sessionOf(document: string): ShownCommand[] {
  const commands: ShownCommand[] = [];
  for (const line of [...document.matchAll(BLOCK)].flatMap(([, text = '']) => text.split('\n'))) {
    const [, who, typed] = PROMPT.exec(line) ?? [];
    const last = commands.at(-1);
    if (who !== undefined && typed !== undefined) {
      const words = typed.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? [];
      const inBackground = words.at(-1) === '&';
      commands.push({ who, words: inBackground ? words.slice(0, -1) : words, inBackground, shown: [], exit: 0 });
    } else if (line.startsWith('{')) last?.shown.push(JSON.parse(line) as Record<string, unknown>);
    else if (line.startsWith('(exit ') && last) last.exit = Number(/\d+/.exec(line)?.[0]);
    else if (line !== '') throw new Error(`neither a command nor an output: ${line}`);
  }
  return commands;
}

/** Values bound to names: `<code>` in the document binds to the first code shown. `<…>` matches anything. */
export class Names {
  readonly #known = new Map<string, unknown>();

  /** The word with its names replaced by their values. */
  filled(word: string): string {
    return word.replaceAll(/<(\w+)>/g, (_, name: string) => {
      if (!this.#known.has(name)) throw new Error(`no output has bound <${name}> yet`);
      return String(this.#known.get(name));
    });
  }

  /**
   * Whether `actual` matches the document; fields that the document leaves out may be anything. Binds new names on a
   * match.
   */
  match(shown: unknown, actual: unknown): boolean {
    const learnt = new Map<string, unknown>();
    if (!this.#matches(shown, actual, learnt)) return false;
    for (const [name, value] of learnt) this.#known.set(name, value);
    return true;
  }

  #matches(shown: unknown, actual: unknown, learnt: Map<string, unknown>): boolean {
    if (shown === '<…>') return actual !== undefined;
    if (typeof shown === 'string' && /^<\w+>$/.test(shown)) {
      const name = shown.slice(1, -1);
      const known = this.#known.get(name) ?? learnt.get(name);
      if (known === undefined) learnt.set(name, actual);
      return actual !== undefined && (known === undefined || known === actual);
    }
    if (Array.isArray(shown)) {
      if (!Array.isArray(actual) || actual.length !== shown.length) return false;
      return shown.every((each, i) => this.#matches(each, actual[i], learnt));
    }
    if (typeof shown !== 'object' || shown === null) return shown === actual;
    if (typeof actual !== 'object' || actual === null) return false;
    const fields = actual as Record<string, unknown>;
    return Object.entries(shown).every(([key, value]) => this.#matches(value, fields[key], learnt));
  }
}
