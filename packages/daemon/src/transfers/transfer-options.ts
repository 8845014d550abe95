// SPDX-License-Identifier: MPL-2.0
import { isAbsolute, join } from 'node:path';
import { parseContactName } from '@keibidrop/contacts';
import { parseHostPort } from '@keibidrop/discovery';
import type { ReceiveOptions, SendOptions, TransferOptions } from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';
import { ALL_SUITES, KeibiError, parseCode, type Suite } from '@keibidrop/protocol';
import type { SettingFlags, Settings } from '@keibidrop/settings';

import { folderPath } from '../folder-path.ts';

/** Reads the current settings; the client's values replace command line flags. */
export type ReadSettings = (flags: SettingFlags) => Promise<Settings>;

type Run = 'signal' | 'onEvent' | 'pausing';

const COLLISIONS: readonly string[] = ['rename', 'overwrite', 'skip', 'ask'] satisfies ReceiveOptions['collisions'][];
const MAX_RECEIVERS = 999_999;

/** @throws USAGE, CODE_MALFORMED, CONFIG_INVALID */
export async function sendOptionsOf(request: local.SendRequest, read: ReadSettings): Promise<Omit<SendOptions, Run>> {
  const { paths, text, code, wordCount, insecureCode, listen, receivers = 1, reach, save, to, beneath = [] } = request;
  if ((text === undefined) === (paths.length === 0)) throw usage('Say what to send: paths, or a text.');
  for (const path of paths) if (!isAbsolute(path)) throw usage(`${JSON.stringify(path)} is not an absolute path.`);
  if (receivers > MAX_RECEIVERS) throw usage(`There can be ${MAX_RECEIVERS} receivers at most.`);
  if (save !== undefined && (receivers !== 1 || to.length > 0))
    throw usage('Saving a contact needs a single receiver, who uses a code.');
  checkSave(request);
  const codeLength = wordCount === undefined ? undefined : String(wordCount);
  const settings = await read({ ...flagsOf(reach), listen, codeLength });
  return {
    ...commonOf(reach, settings),
    paths,
    beneath: beneath.length > 0 ? beneath.map(folderPath) : undefined,
    text,
    code: code === undefined ? undefined : parseCode(code),
    wordCount: settings.codeLength,
    insecureCode,
    listen: settings.listen,
    receivers,
  };
}

/** @throws USAGE, CODE_MALFORMED, CONFIG_INVALID */
export async function receiveOptionsOf(
  request: local.ReceiveRequest,
  read: ReadSettings,
): Promise<Omit<ReceiveOptions, Run | 'confirm' | 'resolveCollision'>> {
  const {
    code,
    out,
    beneath,
    connect,
    near,
    collisions = 'rename',
    verify,
    durable,
    patienceMs,
    incognito,
    reach,
  } = request;
  checkSave(request);
  if (!COLLISIONS.includes(collisions)) throw usage(`collisions must be one of ${COLLISIONS.join(', ')}.`);
  const settings = await read({ ...flagsOf(reach), connect, out: out === undefined ? out : folderPath(out) });
  return {
    ...commonOf(reach, settings),
    addressFile: incognito ? undefined : join(settings.configDir, 'addresses.json'),
    code: parseCode(code),
    out: settings.savePath,
    beneath: beneath === undefined ? beneath : folderPath(beneath),
    connect: settings.connect,
    near: near === undefined ? undefined : parseHostPort(near),
    patienceMs: patienceMs ?? settings.patienceMs,
    collisions: collisions as ReceiveOptions['collisions'],
    verify,
    durable,
  };
}

function checkSave({ save, incognito }: { save?: string | undefined; incognito: boolean }): void {
  if (save === undefined) return;
  parseContactName(save);
  if (incognito) throw usage('An incognito transfer saves no contact: leave out one of the two options.');
}

export function flagsOf(reach: local.Reach | undefined): SettingFlags {
  const { rendezvous, discovery, limit } = reach ?? {};
  return { rendezvous, discovery, limit: limit === undefined ? undefined : String(limit) };
}

export function commonOf(reach: local.Reach | undefined, settings: Settings): Omit<TransferOptions, Run> {
  const { suite, directOnly = false, relayOnly = false } = reach ?? {};
  if (suite !== undefined && !(ALL_SUITES as readonly string[]).includes(suite))
    throw usage(`suite must be one of ${ALL_SUITES.join(', ')}.`);
  if (directOnly && relayOnly) throw usage('Either a relay only or no relay, not both.');
  const { rendezvous, discovery, limitBytesPerSecond, label } = settings;
  return {
    suite: suite as Suite | undefined,
    limitBytesPerSecond,
    label,
    reach: { rendezvous, discovery, directOnly, relayOnly },
  };
}

function usage(message: string): KeibiError {
  return new KeibiError('USAGE', message);
}
