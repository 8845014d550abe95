// SPDX-License-Identifier: MPL-2.0
import { resolve } from 'node:path';
import type { Contact, ContactRule, ContactStore } from '@keibidrop/contacts';
import { fingerprintPhrase, formatFingerprint, KeibiError, parseFingerprint } from '@keibidrop/protocol';
import { type Command, Option } from 'commander';
import type { CliCommand, LoadPeer, OnRun } from '../command.ts';
import { withDaemon } from '../daemon/daemon-connection.ts';
import { formatCount } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import { knownPassphrase } from '../options/passphrases.ts';
import type { PeerPackage } from '../peer-package.ts';
import { type Io, paint } from '../terminal/io.ts';
import { columnsOf, harmless, quoted } from '../terminal/terminal-text.ts';

/** `keibidrop contacts`, parsed. */
export type ContactsCommand = ContactsAction & ContactsOptions;

type ContactsAction =
  | { action: 'list' }
  | { action: 'add'; name: string; fingerprint: Uint8Array }
  | { action: 'rename'; name: string; to: string }
  | { action: 'remove' | 'verify' | 'block' | 'unblock'; name: string }
  | { action: 'rule'; name: string; rule: ContactRule['kind']; folder?: string };

interface ContactsOptions {
  /** For verify: do not ask. */
  yes?: boolean;
  /** For verify: undo it. */
  undo?: boolean;
  /** For list: only the names, without the daemon. */
  names?: boolean;
  passphraseFile?: string;
  config?: string;
  json?: boolean;
}

const AFTER_HELP = `
Examples:
  keibidrop contacts                             list them, and who is online
  keibidrop contacts add Ann FINGERPRINT         the one her keibidrop id shows
  keibidrop contacts verify Ann                  compare words with her
  keibidrop contacts rule Ann accept ~/Inbox     save her files there, unasked
  keibidrop contacts block Ann

Two people who have added each other no longer need a code. People who meet by a
code can save each other: --save NAME on send and on receive.

Environment: KD_CONFIG_DIR
Exit codes: 0 done, 1 no such contact or damaged, 2 usage, 3 refused.
`;

const RULES = ['ask', 'accept', 'never'] as const satisfies readonly ContactRule['kind'][];

export const command: CliCommand<ContactsCommand> = { name: 'contacts', declare, run };

function declare(command: Command, onRun: OnRun<ContactsCommand>): void {
  command
    .summary('manage the people you share with')
    .description('Manage the people you share with.')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', AFTER_HELP);
  const add = (name: string, summary: string, parse: (words: string[]) => ContactsAction, options: Option[] = []) => {
    const sub = command
      .command(name, { isDefault: name === 'list' })
      .summary(summary)
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
    const config = new Option('--config <dir>', 'where the contacts are');
    const json = new Option('--json', 'print one JSON object on stdout');
    for (const option of [...options, config, json]) sub.addOption(option);
    sub.action((...args: unknown[]) => {
      const words = args.filter((arg) => typeof arg === 'string');
      return onRun({ ...sub.opts<ContactsOptions>(), ...parse(words) });
    });
  };
  add('list', 'list contacts', () => ({ action: 'list' }), [
    new Option('--names', 'print only their names, one per line').conflicts('json'),
  ]);
  add('add <name> <fingerprint>', 'add a contact by fingerprint', ([name = '', fingerprint = '']) => {
    return { action: 'add', name, fingerprint: parseFingerprint(fingerprint) };
  });
  add('rename <contact> <new>', 'rename a contact', ([name = '', to = '']) => ({ action: 'rename', name, to }));
  add('remove <contact>', 'remove a contact', ([name = '']) => ({ action: 'remove', name }));
  add('verify <contact>', 'compare fingerprints, word by word', ([name = '']) => ({ action: 'verify', name }), [
    new Option('-y, --yes', 'mark as verified without asking'),
    new Option('--undo', 'remove the mark'),
    new Option('--passphrase-file <file>', 'file whose first line is the passphrase of your identity'),
  ]);
  add('block <contact>', 'refuse everything from a contact', ([name = '']) => ({ action: 'block', name }));
  add('unblock <contact>', 'accept from a blocked contact again', ([name = '']) => ({ action: 'unblock', name }));
  add('rule <contact> <ask|accept|never> [dir]', 'ask, accept or refuse what a contact sends', parseRule);
}

/** @throws USAGE */
function parseRule([name = '', rule = '', folder]: string[]): ContactsAction {
  const kind = RULES.find((known) => known === rule);
  if (kind === undefined) throw usage(`A rule is ask, accept DIR or never; it is ${quoted(rule)}.`);
  if (kind === 'accept' && (folder ?? '') === '')
    throw usage('Name the folder: keibidrop contacts rule NAME accept DIR.');
  if (kind !== 'accept' && folder !== undefined) throw usage(`Only accept has a folder; leave out ${quoted(folder)}.`);
  return { action: 'rule', name, rule: kind, ...(folder !== undefined && { folder }) };
}

/**
 * Does one thing with the contacts and shows the result; resolves with 0.
 *
 * @throws CONTACT_UNKNOWN, CONTACTS_CORRUPT, USAGE, OFFER_DECLINED; what opening the identity throws
 */
async function run(options: ContactsCommand, io: Io, loadPeer: LoadPeer): Promise<number> {
  const { assertOthers, assertUsableFolder, configDirOf, ContactStore } = await import('@keibidrop/contacts/stored');
  const directory = configDirOf({ flags: { config: options.config }, env: io.env, cwd: io.cwd });
  const store = new ContactStore({ directory });
  if (options.action === 'list') {
    const contacts = await store.list();
    if (options.names) {
      for (const contact of contacts) io.stdout.write(`${shown(contact)}\n`);
      return 0;
    }
    const online = contacts.length === 0 ? undefined : await whoIsThere(options, io, await loadPeer());
    const fieldsShown = (contact: Contact) => ({
      ...fieldsOf(contact),
      ...(online && { online: online.has(contact.name) }),
    });
    if (options.json) io.stdout.write(lineOf('contacts', { contacts: contacts.map(fieldsShown) }));
    else io.stdout.write(tableOf(contacts, online, io));
    return 0;
  }
  if (options.action === 'add') {
    const own = await fingerprintWithoutAsking(io, loadPeer, directory);
    if (own !== undefined) assertOthers(options.fingerprint, own);
  }
  if (options.action === 'rule' && options.rule === 'accept') {
    await assertUsableFolder(resolve(io.cwd, options.folder ?? ''));
  }
  const { contact, sentence } = await done(options, io, store, () => ownFingerprint(options, io, loadPeer, directory));
  const { action } = options;
  if (options.json) io.stdout.write(lineOf('contact', { action, ...fieldsOf(contact) }));
  else io.stdout.write(`${sentence}\n`);
  return 0;
}

async function done(
  options: Exclude<ContactsCommand, { action: 'list' }>,
  io: Io,
  store: ContactStore,
  self: () => Promise<Uint8Array>,
): Promise<{ contact: Contact; sentence: string }> {
  const { name } = options;
  switch (options.action) {
    case 'add': {
      const contact = await store.add({ name, fingerprint: options.fingerprint });
      const next = `Once ${shown(contact)} has added your fingerprint, which keibidrop id shows, neither needs a code.`;
      return { contact, sentence: `Added ${shown(contact)}.\n${next}` };
    }
    case 'rename': {
      const contact = await store.rename(name, options.to);
      return { contact, sentence: `${harmless(name)} is ${shown(contact)} now.` };
    }
    case 'remove': {
      const contact = await store.remove(name);
      return { contact, sentence: `${shown(contact)} is forgotten.` };
    }
    case 'verify': {
      if (options.undo !== true) await compare(options, io, await store.get(name), self);
      const contact = await store.change(name, { verified: options.undo !== true });
      return { contact, sentence: `${shown(contact)} is ${options.undo ? 'no longer verified' : 'verified'}.` };
    }
    case 'block': {
      const contact = await store.change(name, { blocked: true });
      return { contact, sentence: `${shown(contact)} is blocked, and gets a notice.` };
    }
    case 'unblock': {
      const contact = await store.change(name, { blocked: false });
      return { contact, sentence: `${shown(contact)} is not blocked.` };
    }
    case 'rule': {
      const rule: ContactRule =
        options.rule === 'accept'
          ? { kind: 'accept', folder: resolve(io.cwd, options.folder ?? '') }
          : { kind: options.rule };
      const contact = await store.change(name, { rule });
      return { contact, sentence: ruleSentence(contact) };
    }
  }
}

/** Shows both fingerprints as words, and asks whether the contact sees the same. @throws OFFER_DECLINED, USAGE without a terminal to ask on */
async function compare(
  options: ContactsOptions,
  io: Io,
  contact: Contact,
  self: () => Promise<Uint8Array>,
): Promise<void> {
  if (options.yes) return;
  if (!io.canAsk) {
    throw usage('There is no terminal to ask on. Compare the fingerprints another way, then add --yes.');
  }
  const name = shown(contact);
  const words = (fingerprint: Uint8Array) => `  ${paint(io.stderr, 'bold', fingerprintPhrase(fingerprint))}\n`;
  io.stderr.write('Read these words aloud to each other, by phone or in person:\n\n');
  io.stderr.write(`You\n${words(await self())}${name}\n${words(contact.fingerprint)}\n`);
  io.stderr.write('The other side runs contacts verify, or id to see its own words only.\n');
  const answer = await io.ask('Are all sixteen words the same on both sides? [y/N] ');
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new KeibiError('OFFER_DECLINED', 'Nothing was changed.');
}

async function ownFingerprint(
  { passphraseFile }: ContactsOptions,
  io: Io,
  loadPeer: LoadPeer,
  directory: string,
): Promise<Uint8Array> {
  const peer = await loadPeer();
  const askPassphrase = () => knownPassphrase(passphraseFile, io);
  const { keys } = await new peer.IdentityStore({ directory, askPassphrase, keychain: peer.systemKeychain() }).open();
  keys.wipe();
  return keys.fingerprint;
}

/** Undefined if there is no identity yet, or it needs a passphrase, or does not open. */
async function fingerprintWithoutAsking(
  io: Io,
  loadPeer: LoadPeer,
  directory: string,
): Promise<Uint8Array | undefined> {
  const peer = await loadPeer();
  const askPassphrase = () => Promise.reject(new KeibiError('IDENTITY_LOCKED'));
  const store = new peer.IdentityStore({ directory, askPassphrase, keychain: peer.systemKeychain() });
  try {
    const lock = await store.lockKind();
    if (lock === 'passphrase') return await fingerprintOfDaemon(io, peer, directory);
    if (lock === undefined) return undefined;
    const { keys } = await store.open();
    keys.wipe();
    return keys.fingerprint;
  } catch {
    io.signal.throwIfAborted();
    return undefined;
  }
}

/** The identity may be unlocked in the daemon. */
async function fingerprintOfDaemon(io: Io, peer: PeerPackage, config: string): Promise<Uint8Array> {
  return withDaemon(io, peer, { config, start: false }, async (daemon) => {
    return parseFingerprint((await daemon.call('identity', {}, { signal: io.signal })).fingerprint);
  });
}

function fieldsOf({ name, fingerprint, verified, blocked, rule, added, lastSeen, renewals }: Contact) {
  return {
    name,
    fingerprint: formatFingerprint(fingerprint),
    words: fingerprintPhrase(fingerprint),
    verified,
    blocked,
    rule: rule.kind,
    ...(rule.kind === 'accept' && { folder: rule.folder }),
    added: added.toISOString(),
    ...(lastSeen && { lastSeen: lastSeen.toISOString() }),
    ...(!verified && renewals && { renewed: renewals.at(-1)?.at.toISOString() }),
  };
}

/** The names of the contacts that are online; undefined if no daemon runs. */
async function whoIsThere(
  { config }: ContactsCommand,
  io: Io,
  peer: PeerPackage,
): Promise<ReadonlySet<string> | undefined> {
  try {
    return await withDaemon(io, peer, { config, start: false }, async (daemon) => {
      const { contacts } = await daemon.call('contacts', {}, { signal: io.signal });
      return new Set(contacts.filter(({ online }) => online).map(({ name }) => name));
    });
  } catch (reason) {
    io.signal.throwIfAborted();
    if (reason instanceof KeibiError && reason.code.startsWith('DAEMON_')) return undefined;
    throw reason;
  }
}

function tableOf(contacts: readonly Contact[], online: ReadonlySet<string> | undefined, io: Io): string {
  if (contacts.length === 0) {
    return 'No contacts yet. Add one with keibidrop contacts add NAME FINGERPRINT,\nor save the person you meet by a code: --save NAME on send and on receive.\n';
  }
  const width = Math.max(...contacts.map((contact) => columnsOf(shown(contact))));
  const lines = contacts.map((contact) => {
    const name = shown(contact);
    return `${paint(io.stdout, 'bold', name)}${' '.repeat(width - columnsOf(name))}  ${remarksOn(contact, online?.has(contact.name) === true, io)}\n`;
  });
  const renewed = contacts.filter(({ verified, renewals = [] }) => !verified && renewals.length > 0);
  const compare = renewed.map((one) => `${shown(one)} has a new identity. Compare it: keibidrop contacts verify.\n`);
  return `${lines.join('')}${formatCount(contacts.length, 'contact')}.\n${compare.join('')}`;
}

function remarksOn(contact: Contact, online: boolean, io: Io): string {
  const { blocked, rule, lastSeen } = contact;
  const last = lastSeen === undefined ? 'never seen' : `seen ${lastSeen.toISOString().slice(0, 10)}`;
  const seen = online ? paint(io.stdout, 'green', 'online'.padEnd(15)) : last.padEnd(15);
  const taken = blocked ? paint(io.stdout, 'red', 'blocked') : ruleWords(rule);
  return `${markOf(contact, io)}  ${seen}  ${taken}`;
}

function markOf({ verified, renewals = [] }: Contact, io: Io): string {
  if (verified) return paint(io.stdout, 'green', 'verified'.padEnd(12));
  return renewals.length > 0 ? paint(io.stdout, 'yellow', 'new identity') : 'not verified';
}

function ruleWords(rule: ContactRule): string {
  if (rule.kind === 'accept') return `into ${harmless(rule.folder)}`;
  return rule.kind === 'ask' ? 'asks first' : 'refused';
}

function ruleSentence(contact: Contact): string {
  const { rule } = contact;
  if (rule.kind === 'accept') return `What ${shown(contact)} sends goes into ${harmless(rule.folder)} without asking.`;
  return rule.kind === 'ask'
    ? `You are asked about what ${shown(contact)} sends.`
    : `What ${shown(contact)} sends is refused.`;
}

/** Stored names are safe to print, but the file may have been edited. */
function shown({ name }: Contact): string {
  return harmless(name);
}

function usage(message: string): KeibiError {
  return new KeibiError('USAGE', message);
}
