// SPDX-License-Identifier: MPL-2.0

// fuse-native-host MODULE FOLDER NAME PATIENCE_MS CACHE_BYTES CACHE [LABEL]: shows a daemon's folder until the daemon ends,
// as keibidrop-mount (native/src/fuse) does, by the fuse-native that is installed at MODULE. Descriptor 3 is one end of a
// socket pair. Only packages/mount starts it.
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type FromDaemon, rules } from '@keibidrop/proto/mount-host';
import { Contents } from './contents.ts';
import { errnoOf, Failure } from './failure.ts';
import { Folder } from './folder.ts';
import { mountByFuseNative } from './fuse.ts';
import { isMounted, isThere, unmount } from './kernel-mount.ts';
import { Link } from './link.ts';
import { Tree } from './tree.ts';
import { WriteBack } from './write-back.ts';

const LINK = 3;
const USAGE = 2;
const NOT_AVAILABLE = 6;
/** How late another program's unmount may be noticed. */
const LOOK_MS = 250;
const ENTRY_SECONDS = 0.5;
const { UNMOUNT_TRIES, UNMOUNT_PAUSE_MS, FORCED_PATIENCE_MS } = rules;
/** The addon's limit. */
const MOST_FOLDER_BYTES = 1023;

const [module, folder = '', name = '', patience, cacheBytes, cache = '', label] = process.argv.slice(2);
if (module === undefined || !(Number(patience) > 0) || cache === '') {
  process.stderr.write('usage: fuse-native-host MODULE FOLDER NAME PATIENCE_MS CACHE_BYTES CACHE [LABEL]\n');
  process.exit(USAGE);
}
const patienceMs = Number(patience);
const socket = new Socket({ fd: LINK, readable: true, writable: true });
const link = new Link(socket, patienceMs, onMessage);
const tree = new Tree(link);
const contents = new Contents(cache, Number(cacheBytes), link);
const writeBack = new WriteBack({ link, tree, contents, cache, label: label ?? '' });
let leaving = false;

// Ctrl-C is for the daemon that has started us; it closes the link when it ends.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('SIGTERM', () => socket.destroy());
// Every request has failed by then.
void link.ended.then(() => leaveAtOnce());

void begin(module);

async function begin(installed: string): Promise<void> {
  // The kernel must not cache attributes: fuse-native cannot invalidate them.
  const times = `attr_timeout=0,entry_timeout=${ENTRY_SECONDS},negative_timeout=0`;
  // It unmounts when this process is killed.
  const watched = (await isThere('fusermount')) ? ',auto_unmount' : '';
  const access = label === undefined ? 'ro' : 'rw';
  const options = `${access},noatime,default_permissions,big_writes${watched},${times},subtype=keibidrop,fsname=${name}`;
  const operations = new Folder({ link, tree, contents, writeBack });
  try {
    if (Buffer.byteLength(folder) > MOST_FOLDER_BYTES) throw new Failure('ENAMETOOLONG');
    await contents.clear();
    await mountByFuseNative(installed, folder, { options, operations, errnoOf });
  } catch (reason) {
    const text = reason instanceof Error ? reason.message : String(reason);
    link.report({ type: 'failed', systemError: errnoOf(reason), reason: text });
    await link.flush();
    process.exit(NOT_AVAILABLE);
  }
  link.report({ type: 'mounted' });
  const look = setInterval(async () => {
    if (leaving || (await isMounted(folder))) return;
    clearInterval(look);
    // Another program has unmounted it: send the written bytes.
    await leave(await writeBack.drain(patienceMs));
  }, LOOK_MS);
}

function onMessage(message: FromDaemon): void {
  if (message.type === 'changes') tree.apply(message.changes);
  else if (message.type === 'watched') tree.setWatched(message.flag);
  else if (message.type === 'unmount') void (message.flag ? leaveForced() : leaveIfUnused());
  else if (message.type === 'away') {
    tree.setAway(message.flag);
    if (!message.flag) writeBack.retry();
  }
}

async function leaveForced(): Promise<void> {
  leaving = true;
  const unsent = await writeBack.drain(Math.min(patienceMs, FORCED_PATIENCE_MS));
  await unmount(folder, true);
  await leave(unsent);
}

async function leaveIfUnused(): Promise<void> {
  leaving = true;
  const unsent = await writeBack.drain(patienceMs);
  let unused = false;
  for (let tries = 0; unsent === 0 && !unused && tries < UNMOUNT_TRIES; tries++) {
    // Programs that inspect each new mount finish in a moment.
    if (tries > 0) await pause(UNMOUNT_PAUSE_MS);
    unused = await unmount(folder, false);
  }
  if (unused) return leave(await writeBack.drain(patienceMs));
  leaving = false;
  link.report({ type: 'busy', unsent });
}

async function leave(unsent: number): Promise<void> {
  leaving = true;
  if (unsent > 0) link.report({ type: 'lost', unsent: await writeBack.leaveUnsent() });
  await link.flush();
  process.exit();
}

async function leaveAtOnce(): Promise<void> {
  if (leaving && !(await isMounted(folder))) return;
  leaving = true;
  await unmount(folder, true);
  process.exit();
}
