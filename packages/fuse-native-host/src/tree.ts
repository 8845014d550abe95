// SPDX-License-Identifier: MPL-2.0
import { type FromDaemon, rules } from '@keibidrop/proto/mount-host';
import type { ShareEntry } from '@keibidrop/protocol';
import { Failure, isFailure } from './failure.ts';
import { entriesOf, type Link } from './link.ts';

type Changes = (FromDaemon & { type: 'changes' })['changes'];

/** Above this number of names, all are forgotten. */
const MOST_NODES = 200_000;

interface Node {
  /** Undefined if the name is not there, or nothing is known of it. */
  entry?: ShareEntry | undefined;
  /** The names in it, if it was listed. */
  names?: Set<string> | undefined;
  readonly children: Map<string, Node>;
  /** When the entry, and the names, were asked for, or done by us; 0: never. By the tree's clock, which every event moves on. */
  looked: number;
  listed: number;
  /** The same by the clock on the wall. */
  lookedAt: number;
  listedAt: number;
  /** Answers to requests before this are in doubt: of the entry, of the names, and of everything below. */
  doubted: number;
  namesDoubted: number;
  belowDoubted: number;
}

/** The known names of the other peer: requested when needed, and valid until a change is reported. */
export class Tree {
  readonly #link: Link;
  #root = newNode();
  #nodes = 0;
  #clock = 1;
  #watched = false;
  #away = false;

  constructor(link: Link) {
    this.#link = link;
  }

  get away(): boolean {
    return this.#away;
  }

  setAway(away: boolean): void {
    this.#away = away;
  }

  /** Changes are reported from now on, earlier ones may be missed; or they are not reported. */
  setWatched(watched: boolean): void {
    this.#watched = watched;
    this.#root.belowDoubted = this.#root.doubted = this.#root.namesDoubted = ++this.#clock;
  }

  apply(changes: Readonly<Changes>): void {
    for (const { kind, path } of changes) {
      if (kind !== 'changed') this.doubtNames(parentOf(path));
      this.doubt(path);
    }
  }

  /** The entry, and all below it, may have changed. */
  doubt(path: string): void {
    const node = this.#find(path);
    if (node !== undefined) node.doubted = node.namesDoubted = node.belowDoubted = ++this.#clock;
  }

  doubtNames(path: string): void {
    const node = this.#find(path);
    if (node !== undefined) node.doubted = node.namesDoubted = ++this.#clock;
  }

  /** @throws Failure: ENOENT, or the reason of the failed request */
  async look(path: string): Promise<ShareEntry> {
    const known = this.#known(path);
    if (known === 'absent') throw new Failure('ENOENT');
    if (known !== undefined) return known;
    const asked = this.#clock;
    try {
      const entry = await this.#link.askEntry({ type: 'look', path });
      this.#put(path, entry, asked);
      return entry;
    } catch (reason) {
      if (isFailure(reason, 'ENOENT')) this.#put(path, undefined, asked);
      throw reason;
    }
  }

  /** @throws Failure */
  async list(path: string): Promise<ShareEntry[]> {
    const known = this.#knownNames(path);
    if (known !== undefined) return known;
    const asked = this.#clock;
    const entries: ShareEntry[] = [];
    let bytes = 0;
    await this.#link.ask(
      { type: 'list', path },
      {
        onPage: (page) => {
          bytes += page.length;
          if (bytes <= rules.MOST_LISTING_BYTES) for (const entry of entriesOf(page)) entries.push(entry);
        },
      },
    );
    if (bytes > rules.MOST_LISTING_BYTES) throw new Failure('EOVERFLOW');
    this.#putListing(path, entries, asked);
    return entries;
  }

  /** Our own creation of an entry. */
  made(path: string, entry: ShareEntry): void {
    this.#put(path, entry, ++this.#clock);
    this.#changedIn(parentOf(path));
  }

  removed(path: string): void {
    this.#put(path, undefined, ++this.#clock);
    this.#changedIn(parentOf(path));
  }

  renamed(from: string, to: string): void {
    const entry = this.#find(from)?.entry;
    this.removed(from);
    this.doubt(to);
    if (entry === undefined) return;
    this.made(to, { ...entry, name: nameOf(to) });
    this.#find(to)?.children.clear();
  }

  /** Our own change of a file. */
  changed(path: string, entry: ShareEntry): void {
    this.#put(path, entry, ++this.#clock);
  }

  /** The directory's times have changed. */
  #changedIn(path: string): void {
    const node = this.#find(path);
    if (node !== undefined) node.doubted = ++this.#clock;
  }

  #known(path: string): ShareEntry | 'absent' | undefined {
    let node: Node | undefined = this.#root;
    let above = 0;
    for (const name of partsOf(path)) {
      // A name that is missing in a valid listing does not exist.
      const listed = this.#believed(node.listed, Math.max(node.namesDoubted, above), node.listedAt);
      if (listed && node.names !== undefined && !node.names.has(name)) return 'absent';
      above = Math.max(above, node.belowDoubted);
      node = node.children.get(name);
      if (node === undefined) return undefined;
    }
    if (!this.#believed(node.looked, Math.max(node.doubted, above), node.lookedAt)) return undefined;
    return node.entry ?? 'absent';
  }

  #knownNames(path: string): ShareEntry[] | undefined {
    let node: Node | undefined = this.#root;
    let above = 0;
    for (const name of partsOf(path)) {
      above = Math.max(above, node.belowDoubted);
      node = node.children.get(name);
      if (node === undefined) return undefined;
    }
    if (node.names === undefined) return undefined;
    if (!this.#believed(node.listed, Math.max(node.namesDoubted, above), node.listedAt)) return undefined;
    const entries: ShareEntry[] = [];
    for (const name of node.names) {
      const entry = node.children.get(name)?.entry;
      if (entry === undefined) return undefined;
      entries.push(entry);
    }
    return entries;
  }

  #believed(asked: number, doubted: number, at: number): boolean {
    if (asked === 0) return false;
    return this.#away || (asked >= doubted && (this.#watched || Date.now() - at < rules.UNWATCHED_TRUST_MS));
  }

  /** @param asked  when it was requested, by the clock: later news is more recent */
  #put(path: string, entry: ShareEntry | undefined, asked: number): void {
    const node = this.#make(path);
    if (node.looked > asked) return;
    node.entry = entry;
    node.looked = asked;
    node.lookedAt = Date.now();
    const names = path === '' ? undefined : this.#namesOf(path);
    if (entry === undefined) names?.delete(nameOf(path));
    else names?.add(nameOf(path));
    if (entry?.type === 'directory') return;
    node.names = undefined;
    this.#nodes -= node.children.size;
    node.children.clear();
  }

  #putListing(path: string, entries: readonly ShareEntry[], asked: number): void {
    const node = this.#make(path);
    if (node.listed > asked) return;
    node.names = new Set(entries.map(({ name }) => name));
    node.listed = asked;
    node.listedAt = Date.now();
    const start = path === '' ? '' : `${path}/`;
    if (entries.length < MOST_NODES) for (const entry of entries) this.#put(start + entry.name, entry, asked);
  }

  #namesOf(path: string): Set<string> | undefined {
    return this.#find(parentOf(path))?.names;
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of partsOf(path)) {
      node = node.children.get(name);
      if (node === undefined) return undefined;
    }
    return node;
  }

  #make(path: string): Node {
    if (this.#nodes >= MOST_NODES) {
      this.#root = newNode();
      this.#nodes = 0;
      this.#root.belowDoubted = ++this.#clock;
    }
    let node = this.#root;
    for (const name of partsOf(path)) {
      let next = node.children.get(name);
      if (next === undefined) {
        next = newNode();
        node.children.set(name, next);
        this.#nodes++;
      }
      node = next;
    }
    return node;
  }
}

function newNode(): Node {
  const never = { looked: 0, listed: 0, lookedAt: 0, listedAt: 0, doubted: 0, namesDoubted: 0, belowDoubted: 0 };
  return { children: new Map(), ...never };
}

function partsOf(path: string): string[] {
  return path === '' ? [] : path.split('/');
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
