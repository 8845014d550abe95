// SPDX-License-Identifier: MPL-2.0
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type IdentityKeys, openSecret, type SecretKey } from '@keibidrop/session';
import { readPrivate } from '@keibidrop/settings/files';

/** A former identity, kept until its contacts know the next one. */
export interface FormerIdentity {
  readonly keys: IdentityKeys;
  /** After this time it announces nothing and is removed. */
  readonly until: Date;
  /** The file it is sealed in. */
  readonly file: string;
}

/** A former identity whose keys are not derived yet. The caller wipes the secret. */
export interface FormerSecret extends Omit<FormerIdentity, 'keys'> {
  readonly secret: Uint8Array;
}

/** How long a former identity is kept for contacts that are away. */
const KEPT_DAYS = 90;
const DAY_MS = 86_400_000;
/** Limit of former identities; the oldest is removed. */
export const MAX_FORMER = 4;
const NAME = /^identity\.former-(\d{13})$/;

/** The file of an identity that is given up at that time, in milliseconds since 1970. */
export function formerFile(directory: string, givenUpMs: number): Omit<FormerSecret, 'secret'> {
  return { file: join(directory, `identity.former-${givenUpMs}`), until: new Date(givenUpMs + KEPT_DAYS * DAY_MS) };
}

/** Opens the former identities of a directory, oldest first. Skips those locked by another key. */
export async function openFormer(directory: string, key: SecretKey): Promise<FormerSecret[]> {
  const opened: FormerSecret[] = [];
  for (const { file, until } of await formerFiles(directory)) {
    const sealed = await readPrivate(file).catch(() => undefined);
    const secret = sealed && (await openSecret(sealed, key).catch(() => undefined));
    if (secret !== undefined) opened.push({ file, until, secret });
  }
  return opened;
}

/** Removes all former identities of a directory except those in the named files. */
export async function removeFormer(directory: string, but: readonly string[]): Promise<void> {
  for (const { file } of await formerFiles(directory)) if (!but.includes(file)) await rm(file, { force: true });
}

/** Removes expired ones. */
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
