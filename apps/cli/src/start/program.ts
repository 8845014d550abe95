// SPDX-License-Identifier: MPL-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { type CacheKey, CodeCache } from './code-cache.ts';

interface Module {
  exports: unknown;
}
type Wrapper = (
  exports: unknown,
  require: (name: string) => unknown,
  module: Module,
  filename: string,
  dirname: string,
) => void;

/** The bundled chunks beside this file: CommonJS modules that require each other, compiled from a cache where there is one. */
export class Program {
  readonly #directory: string;
  readonly #cache: CodeCache;
  readonly #require: NodeJS.Require;
  readonly #modules = new Map<string, Module>();
  readonly #scripts = new Map<string, Script>();
  #rejected = false;

  constructor(directory: string, require: NodeJS.Require, key: CacheKey) {
    this.#directory = directory;
    this.#require = require;
    this.#cache = CodeCache.open(directory, process.env, key);
  }

  /** The exports of a chunk, executed at the first call; of any other name, what Node's `require` returns. */
  readonly load = (name: string): unknown => {
    if (!name.startsWith('./')) return this.#require(name);
    const known = this.#modules.get(name);
    if (known !== undefined) return known.exports;
    const module: Module = { exports: {} };
    this.#modules.set(name, module);
    try {
      const path = join(this.#directory, name);
      this.#compile(name, path)(module.exports, this.load, module, path, this.#directory);
    } catch (error) {
      this.#modules.delete(name);
      throw error;
    }
    return module.exports;
  };

  #compile(name: string, path: string): Wrapper {
    const cachedData = this.#cache.get(name);
    // The bundler escapes everything that is not ASCII, and Latin-1 is the fastest to decode.
    const text = this.#textOf(path);
    const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
      filename: path,
      ...(cachedData && { cachedData }),
    });
    this.#rejected ||= script.cachedDataRejected === true;
    this.#scripts.set(name, script);
    return script.runInThisContext() as Wrapper;
  }

  #textOf(path: string): string {
    try {
      return readFileSync(path, 'latin1');
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== 'ENOENT') throw reason;
      throw Object.assign(new Error(`${path} is missing`, { cause: reason }), { code: 'MODULE_NOT_FOUND' });
    }
  }

  /** Keeps the code that was compiled until now, unless there is a cache already. Called after a command that succeeded. */
  saveCode(): void {
    if (this.#cache.found && !this.#rejected) return;
    this.#cache.save(new Map([...this.#scripts].map(([name, script]) => [name, script.createCachedData()])));
  }
}
