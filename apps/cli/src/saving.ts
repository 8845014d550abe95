// SPDX-License-Identifier: MPL-2.0
import type { SaveOptions } from '@keibidrop/peer';
import { type Command, Option } from 'commander';
import type { Io } from './io.ts';
import { knownPassphrase } from './passphrases.ts';
import type { PeerPackage } from './peer-package.ts';

/** The options by which the other side is kept as a contact, as typed. */
export interface SaveFlags {
  save?: string;
  passphraseFile?: string;
}

export function addSaveOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--save <name>', 'keep the other side as a contact, if it does the same').conflicts([
        'background',
        'incognito',
      ]),
    )
    .addOption(new Option('--passphrase-file <file>', 'its first line unlocks your identity, for contacts'));
}

/**
 * What `--save` needs, found before anything is sent; undefined without it. The caller wipes the identity.
 *
 * @throws USAGE for a name that is none; CONTACTS_CORRUPT; what opening the identity throws
 */
export async function openSaving(
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
