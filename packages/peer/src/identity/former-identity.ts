// SPDX-License-Identifier: MPL-2.0
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type IdentityKeys, openSecret, type SecretKey } from '@keibidrop/session';
import { readPrivate } from '../private-file.ts';

/** An identity that was given up, kept until its contacts know the next one. */
export interface FormerIdentity {
  readonly keys: IdentityKeys;
  /** After that it announces nothing and is removed. */
  readonly until: Date;
  /** Where it is sealed. */
  readonly file: string;
}

/** The same before its keys are made. The caller wipes the secret. */
export interface FormerSecret extends Omit<FormerIdentity, 'keys'> {
  readonly secret: Uint8Array;
}

/** How long a former identity is kept for contacts that are away. */
const KEPT_DAYS = 90;
const DAY_MS = 86_400_000;
/** More of them at once are not kept: the oldest goes. */
export const MAX_FORMER = 4;
const NAME = /^identity\.former-(\d{13})$/;

/** The file of an identity that is given up at that time, milliseconds since 1970. */
export function formerFile(directory: string, givenUpMs: number): Omit<FormerSecret, 'secret'> {
  return { file: join(directory, `identity.former-${givenUpMs}`), until: new Date(givenUpMs + KEPT_DAYS * DAY_MS) };
}

/** Opens the former identities of a directory, oldest first. Those that another key locks are passed over. */
export async function openFormer(directory: string, key: SecretKey): Promise<FormerSecret[]> {
  const opened: FormerSecret[] = [];
  for (const { file, until } of await formerFiles(directory)) {
    const sealed = await readPrivate(file).catch(() => undefined);
    const secret = sealed && (await openSecret(sealed, key).catch(() => undefined));
    if (secret !== undefined) opened.push({ file, until, secret });
  }
  return opened;
}

/** Removes all former identities of a directory but those of the files named. */
export async function removeFormer(directory: string, but: readonly string[]): Promise<void> {
  for (const { file } of await formerFiles(directory)) if (!but.includes(file)) await rm(file, { force: true });
}

/** Those whose time is over are removed. */
async function formerFiles(directory: string): Promise<Omit<FormerSecret, 'secret'>[]> {
  const names = await readdir(directory).catch(() => []);
  const kept = [];
  for (const name of names.sort()) {
    const givenUp = NAME.exec(name)?.[1];
    if (givenUp === undefined) continue;
    const former = formerFile(directory, Number(givenUp));
    if (former.until.getTime() > Date.now()) kept.push(former);
    else await rm(former.file, { force: true });
  }
  return kept;
}
