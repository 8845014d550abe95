// SPDX-License-Identifier: MPL-2.0
import type { LocalClient } from '@keibidrop/daemon';
import type { SaveOptions } from '@keibidrop/peer';
import { KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { PeerPackage } from '../peer-package.ts';
import type { Io } from '../terminal/io.ts';
import { knownPassphrase } from './passphrases.ts';

/** Options that save the other side as a contact, as typed. */
export interface SaveFlags {
  save?: string;
  passphraseFile?: string;
}

export function addSaveOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--save <name>', 'save the other side as a contact, if it saves you, too').conflicts('incognito'),
    )
    .addOption(new Option('--passphrase-file <file>', 'file whose first line unlocks your identity, for contacts'));
}

/** Unlocks the daemon's identity before the hand-over, if `--save` or `--to` needs it. @throws IDENTITY_* */
export async function unlockForContacts(
  daemon: LocalClient,
  { save, to, passphraseFile }: SaveFlags & { to?: string[] },
  io: Io,
): Promise<void> {
  if (save === undefined && to === undefined) return;
  await unlock(daemon, passphraseFile, io);
}

/** Opens the identity in the daemon, with the passphrase if it is locked. @throws IDENTITY_* */
export async function unlock(daemon: LocalClient, passphraseFile: string | undefined, io: Io) {
  const { signal } = io;
  try {
    return await daemon.call('identity', {}, { signal });
  } catch (reason) {
    if (!(reason instanceof KeibiError) || reason.code !== 'IDENTITY_LOCKED') throw reason;
    return daemon.call('unlock', { passphrase: await knownPassphrase(passphraseFile, io) }, { signal });
  }
}

/**
 * Prepares `--save` before anything is sent; undefined without it. The caller wipes the identity.
 *
 * @throws USAGE for an invalid name; CONTACTS_CORRUPT; errors of opening the identity
 */
export async function openIntroduction(
  { save, passphraseFile }: SaveFlags,
  io: Io,
  peer: PeerPackage,
  directory: string,
): Promise<SaveOptions | undefined> {
  if (save === undefined) return undefined;
  const name = peer.parseContactName(save);
  const contacts = new peer.ContactStore({ directory });
  await contacts.list();
  const askPassphrase = () => knownPassphrase(passphraseFile, io);
  const { keys } = await new peer.IdentityStore({ directory, askPassphrase, keychain: peer.systemKeychain() }).open();
  return { name, contacts, self: keys };
}
