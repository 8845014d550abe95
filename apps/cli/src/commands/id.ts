// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import type { ContactStore, Identity, IdentityStore, NextIdentity } from '@keibidrop/contacts';
import { fingerprintLink, fingerprintPhrase, formatFingerprint, KeibiError } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { formatCount } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import { qrCode } from '../display/qr-code.ts';
import { unlock } from '../options/introduction.ts';
import { knownPassphrase, newPassphrase } from '../options/passphrases.ts';
import type { PeerPackage } from '../peer-package.ts';
import { type Io, paint } from '../terminal/io.ts';

/** `keibidrop id`, parsed. */
export interface IdCommand {
  action: 'show' | 'qr' | 'unlock' | 'rotate' | 'passphrase' | 'export' | 'import';
  /** For export and import. */
  file?: string;
  yes?: boolean;
  remove?: boolean;
  replace?: boolean;
  /** Do not announce the next identity to contacts. */
  silent?: boolean;
  passphraseFile?: string;
  newPassphraseFile?: string;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop id                     show your fingerprint, also as words
  keibidrop id passphrase          protect it with a passphrase from now on
  keibidrop id unlock              unlock it for the running daemon
  keibidrop id export me.kdid      write an encrypted copy, with your contacts
  keibidrop id import me.kdid      use that copy on another machine
  keibidrop id rotate              replace it, and announce the new one

Your daemon announces a new identity to each contact that comes online, for 90
days, signed by the old one. Contacts are asked to compare it again. If the old
identity may be stolen, its thief could announce one, too: add --silent, and
give people your new fingerprint yourself. Running daemons need no restart.

The identity is created when it is first needed, and stored encrypted in the
directory of --config. Its key is in the system keychain if there is one, else
in identity.key beside it, or derived from your passphrase.

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 the identity is locked or damaged, 2 usage, 3 refused.
`;

export const command: CliCommand<IdCommand> = { name: 'id', declare, run };

function declare(command: Command, onRun: OnRun<IdCommand>): void {
  command
    .summary('manage the identity by which contacts know you')
    .description('Manage the identity by which contacts know you.')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', AFTER_HELP);
  const add = (name: string, summary: string, options: Option[] = []) => {
    const [action = ''] = name.split(' ');
    const sub = command
      .command(name, { isDefault: action === 'show' })
      .summary(summary)
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
    const [passphraseFile, config, json] = [
      new Option('--passphrase-file <file>', 'file whose first line is the passphrase'),
      new Option('--config <dir>', 'where the identity is'),
      new Option('--json', 'print one JSON object on stdout'),
    ] as const;
    for (const option of [...options, passphraseFile, config, json]) sub.addOption(option);
    sub.action((...args: unknown[]) => {
      const [file] = args.filter((arg) => typeof arg === 'string');
      return onRun({ ...sub.opts(), ...(file && { file }), action: action as IdCommand['action'] });
    });
  };
  const silent = new Option('--silent', 'do not announce the new one to contacts');
  const fresh = new Option('--new-passphrase-file <file>', 'file whose first line is the new passphrase');
  add('show', 'show the fingerprint');
  add('qr', 'show the fingerprint as a QR code');
  add('rotate', 'replace it by a new one', [new Option('-y, --yes', 'do not ask'), silent, fresh]);
  add('unlock', 'unlock it for the running daemon');
  add('passphrase', 'protect it with a passphrase', [
    new Option('--remove', 'protect it with a key file instead'),
    fresh,
  ]);
  add('export <file>', 'write a copy, encrypted with a passphrase', [fresh]);
  add('import <file>', 'import an exported copy', [new Option('--replace', 'replace the existing identity'), silent]);
}

/**
 * Does one thing with the identity and shows it; resolves with 0.
 *
 * @throws IDENTITY_LOCKED, IDENTITY_CORRUPT, USAGE, OFFER_DECLINED
 */
async function run(options: IdCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const peer = await loadPeer();
  const { config, passphraseFile, action } = options;
  if (action === 'unlock') return runUnlock(options, io, peer);
  const directory = peer.configDirOf({ flags: { config }, env: io.env, cwd: io.cwd });
  const askPassphrase = askOnce(
    action === 'import' ? () => passphraseOfReplaced(io) : () => knownPassphrase(passphraseFile, io),
  );
  const { identity, unlockedBy } = await done(
    { ...options, action },
    io,
    new peer.IdentityStore({ directory, askPassphrase, confirmNew: confirmNew(io), keychain: peer.systemKeychain() }),
    new peer.ContactStore({ directory }),
    askPassphrase,
  );
  identity.keys.wipe();
  if (action === 'rotate' || action === 'import') {
    io.stderr.write(announcementText(identity as NextIdentity));
    await reloadInDaemon(options, unlockedBy, io, peer);
  }
  if (options.json) io.stdout.write(jsonOf(identity));
  else if (options.action === 'qr')
    io.stdout.write(await qrCode(fingerprintLink(identity.keys.fingerprint), io.stdout));
  else io.stdout.write(textOf(identity, io));
  return 0;
}

async function done(
  options: IdCommand & { action: Exclude<IdCommand['action'], 'unlock'> },
  io: Io,
  store: IdentityStore,
  contacts: ContactStore,
  askPassphrase: () => Promise<string>,
): Promise<{ identity: Identity | NextIdentity; unlockedBy?: string | undefined }> {
  const { action, newPassphraseFile } = options;
  const announce = options.silent !== true;
  const file = resolve(io.cwd, options.file ?? '');
  switch (action) {
    case 'show':
    case 'qr':
      return { identity: await store.open() };
    case 'rotate': {
      await confirmRotation(options, io);
      const wasLocked = (await store.lockKind().catch(() => undefined)) === 'passphrase';
      // The old passphrase is asked for before the new one.
      if (wasLocked && announce && (await contacts.list()).length > 0) await askPassphrase();
      const locked = newPassphraseFile !== undefined || wasLocked;
      const unlockedBy = locked ? await newPassphrase(newPassphraseFile, io) : undefined;
      return { identity: await store.rotate(unlockedBy, { announce }), unlockedBy };
    }
    case 'passphrase':
      return { identity: await store.lock(options.remove ? undefined : await newPassphrase(newPassphraseFile, io)) };
    case 'export':
      await store.export(file, await newPassphrase(newPassphraseFile, io), await contacts.copy());
      return { identity: await store.open() };
    case 'import': {
      const passphrase = await knownPassphrase(options.passphraseFile, io);
      const imported = await store.import(file, passphrase, { replace: options.replace === true, announce });
      const added = imported.contacts === undefined ? 0 : await contacts.takeCopy(imported.contacts);
      if (added > 0) io.stderr.write(`${formatCount(added, 'contact')} came with it: see keibidrop contacts.\n`);
      return { identity: imported };
    }
  }
}

function askOnce(ask: () => Promise<string>): () => Promise<string> {
  let asked: Promise<string> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}

/** --passphrase-file belongs to the copy. @throws IDENTITY_LOCKED without a terminal to ask on */
async function passphraseOfReplaced(io: Io): Promise<string> {
  if (!io.canAsk) throw new KeibiError('IDENTITY_LOCKED', 'The identity to be replaced is locked by a passphrase.');
  return io.askSecret('Passphrase of the identity to be replaced: ');
}

function announcementText({ announcedTo }: NextIdentity): string {
  if (announcedTo === 0) return '';
  const them = announcedTo === 1 ? '1 contact hears' : `${announcedTo} contacts hear`;
  return `${them} of it when online while your daemon runs, within 90 days: keibidrop daemon\n`;
}

/** @throws DAEMON_UNREACHABLE, IDENTITY_* */
async function runUnlock({ config, passphraseFile, json }: IdCommand, io: Io, peer: PeerPackage): Promise<number> {
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    const { fingerprint, words, created, lock } = await unlock(daemon, passphraseFile, io);
    if (json) {
      io.stdout.write(lineOf('identity', { fingerprint, words, created: new Date(created).toISOString(), lock }));
    } else io.stdout.write('The daemon can use the identity until it ends. Contacts can reach you.\n');
    return 0;
  });
}

/** Asks before a new identity replaces a lost one; undefined without a terminal to ask on. */
function confirmNew(io: Io): ((what: string) => Promise<boolean>) | undefined {
  if (!io.canAsk) return undefined;
  return async (what) => {
    const answer = await io.ask(`${what}\nMake a new one, which no contact knows? [y/N] `);
    return /^\s*y(es)?\s*$/i.test(answer);
  };
}

/** A running daemon keeps the identity that it has opened, so it must reload it. */
async function reloadInDaemon(
  { config }: IdCommand,
  passphrase: string | undefined,
  io: Io,
  peer: PeerPackage,
): Promise<void> {
  try {
    await withDaemon(io, peer, { config, start: false }, async (daemon) => {
      await daemon.call('reloadIdentity', { passphrase }, { signal: io.signal });
    });
  } catch (reason) {
    io.signal.throwIfAborted();
    if (reason instanceof KeibiError && reason.code === 'DAEMON_UNREACHABLE') return;
    io.stderr.write('The running daemon still uses the old identity. Restart it: keibidrop stop\n');
  }
}

async function confirmRotation(options: IdCommand, io: Io): Promise<void> {
  if (options.yes) return;
  if (!io.canAsk) throw new KeibiError('USAGE', 'There is no terminal to ask on. Add --yes to replace the identity.');
  const what = options.silent
    ? 'Contacts of the old identity will not know the new one.'
    : 'Contacts are notified of the new identity, and asked to compare it.';
  const answer = await io.ask(`${what} Replace the old one? [y/N] `);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new KeibiError('OFFER_DECLINED', 'Nothing was changed.');
}

function jsonOf({ keys, created, lock }: Identity): string {
  const fingerprint = formatFingerprint(keys.fingerprint);
  const words = fingerprintPhrase(keys.fingerprint);
  return lineOf('identity', { fingerprint, words, created: created.toISOString(), lock });
}

const LOCKS = { key: 'a key file', passphrase: 'a passphrase', keychain: 'the keychain' } as const;

function textOf({ keys, created, lock }: Identity, io: Io): string {
  const row = (name: string, text: string) => `${paint(io.stdout, 'dim', name.padEnd(12))} ${text}\n`;
  const fingerprint = formatFingerprint(keys.fingerprint);
  return (
    row('Fingerprint', paint(io.stdout, 'bold', fingerprint)) +
    row('To read out', fingerprintPhrase(keys.fingerprint)) +
    row('Made', created.toISOString().slice(0, 10)) +
    row('Locked by', LOCKS[lock])
  );
}
