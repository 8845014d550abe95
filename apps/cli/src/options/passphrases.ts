// SPDX-License-Identifier: MPL-2.0
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { KeibiError } from '@keibidrop/protocol';
import type { Io } from '../terminal/io.ts';

const MAX_BYTES = 1024;
/** An attacker with the file can guess shorter ones, despite Argon2id. */
const MIN_CHARACTERS = 8;

/** Passphrase of the locked identity: from a file, or typed. @throws USAGE for the file, IDENTITY_LOCKED without a terminal */
export async function knownPassphrase(file: string | undefined, io: Io): Promise<string> {
  if (file !== undefined) return firstLineOf(file, io);
  if (!io.canAsk) {
    throw new KeibiError(
      'IDENTITY_LOCKED',
      'A passphrase locks the identity. Name a file with it: --passphrase-file FILE.',
    );
  }
  return io.askSecret('Passphrase: ');
}

/** A new passphrase; typed twice. @throws USAGE if it is too short, or the two differ */
export async function newPassphrase(file: string | undefined, io: Io): Promise<string> {
  if (file === undefined && !io.canAsk) {
    throw new KeibiError(
      'USAGE',
      'There is no terminal to ask for a passphrase. Name a file with it: --new-passphrase-file FILE.',
    );
  }
  const passphrase = file === undefined ? await io.askSecret('New passphrase: ') : await firstLineOf(file, io);
  if ([...passphrase].length < MIN_CHARACTERS) {
    throw new KeibiError('USAGE', `A passphrase needs at least ${MIN_CHARACTERS} characters. Several words are best.`);
  }
  if (file === undefined && (await io.askSecret('Repeat it: ')) !== passphrase) {
    throw new KeibiError('USAGE', 'The two passphrases differ. Nothing was changed.');
  }
  return passphrase;
}

async function firstLineOf(path: string, io: Io): Promise<string> {
  try {
    const file = await open(resolve(io.cwd, path), 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, null);
      const [line = ''] = buffer.toString('utf8', 0, bytesRead).split(/\r?\n/);
      return line;
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new KeibiError('USAGE', `The passphrase file ${path} cannot be read.`, { cause });
  }
}
