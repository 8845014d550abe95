// SPDX-License-Identifier: MPL-2.0
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { formatFingerprint, KeibiError } from '@keibidrop/protocol';
import { journalsOf, knownIn, loadSettings, type SettingsQuery, stateDirOf } from '@keibidrop/settings';
import { contactCalls } from './calls/contact-calls.ts';
import { folderCalls } from './calls/folder-calls.ts';
import { historyCalls } from './calls/history-calls.ts';
import { identityCalls } from './calls/identity-calls.ts';
import { mountCalls } from './calls/mount-calls.ts';
import { pageCalls } from './calls/page-calls.ts';
import { settingsCalls } from './calls/settings-calls.ts';
import { shareCalls } from './calls/share-calls.ts';
import { statusCalls } from './calls/status-calls.ts';
import { transferCalls } from './calls/transfer-calls.ts';
import { ContactService } from './contact-service.ts';
import type { DaemonParts } from './daemon-parts.ts';
import { type DaemonPlace, type DaemonSocket, daemonPlace, listenForClients } from './daemon-socket.ts';
import { EventStream } from './event-stream.ts';
import { Mounts } from './folders/mounts.ts';
import { Shares } from './folders/shares.ts';
import type { SharesOptions } from './folders/shares-options.ts';
import { History } from './history/history.ts';
import { IdentityCache } from './identity-cache.ts';
import { Journal } from './journal.ts';
import { KeptTexts } from './kept-texts.ts';
import type { LocalCalls } from './local/local-calls.ts';
import { LocalServer } from './local/local-server.ts';
import { Drops } from './page/drops.ts';
import { PageServer } from './page/page-server.ts';
import { Prompts } from './prompts.ts';
import type { ReadSettings } from './transfers/transfer-options.ts';
import { isTransferEntry, Transfers } from './transfers/transfers.ts';

export interface DaemonOptions {
  /** From the daemon's own command line; the defaults of every transfer. */
  settings: SettingsQuery;
  /** The version of the program. */
  version: string;
  /** The folder of the page that the HTTP server serves; absent: no page. */
  pageDir?: string | undefined;
  /** Logs one line per error that no client waits for. */
  log(line: string): void;
}

/** One peer process for all of a user's programs, until it is stopped. */
export class Daemon {
  readonly place: DaemonPlace;
  /** Resolves when the daemon has ended. */
  readonly ended: Promise<void>;
  readonly #parts: DaemonParts;
  readonly #server: LocalServer;
  readonly #onTrouble: (error: KeibiError) => void;
  #socket: DaemonSocket | undefined;
  #stopping: Promise<number> | undefined;
  #end: () => void = () => {};

  /**
   * Listens, and resumes the unfinished work of an earlier daemon.
   *
   * @throws DAEMON_RUNNING if this configuration directory has a daemon already; CONFIG_INVALID
   */
  static async open(options: DaemonOptions): Promise<Daemon> {
    const { configDir } = await loadSettings(options.settings);
    const daemon = new Daemon(configDir, options);
    daemon.#socket = await listenForClients(daemon.place, (client) => daemon.#server.attach(client));
    const damaged = await daemon.#parts.transfers.restore();
    const others = [await daemon.#parts.mounts.restore(), await daemon.#parts.shares.restore()];
    daemon.#parts.contacts.open();
    await daemon.#parts.page.reopen();
    for (const file of [damaged, ...others]) {
      if (file !== undefined) options.log(`A list made no sense, in all or in part. It is kept as ${file}.`);
    }
    return daemon;
  }

  private constructor(configDir: string, { settings, version, log, pageDir }: DaemonOptions) {
    this.place = daemonPlace(configDir, settings.env);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const { flags, env } = settings;
    // Independent of the directory it was started in: received files go where people look for them.
    const cwd = downloads();
    const read: ReadSettings = (asked) =>
      loadSettings({ flags: { ...flags, ...defined(asked), config: configDir }, env, cwd });
    const stateDir = stateDirOf(configDir);
    const events = new EventStream();
    const questions = new Prompts(events);
    const history = new History(stateDir, async () => (await read({})).history);
    const journal = new Journal<never>(join(stateDir, 'transfers.json'), isTransferEntry);
    const onTrouble = (error: KeibiError) => log(`${error.code}: ${error.message}`);
    this.#onTrouble = onTrouble;
    const identity = new IdentityCache(configDir);
    const contacts: ContactService = new ContactService({
      directory: configDir,
      read,
      identity,
      events,
      questions,
      receive: (invitation) => transfers.addInvited(invitation),
      connect: (invitation) => shares.connectInvited(invitation),
      onTrouble,
    });
    const transfers: Transfers = new Transfers({
      ...keptIn(stateDir),
      read,
      sendTo: (names, options) => contacts.sendTo(names, options),
      introducing: (name) => contacts.introducing(name),
      events,
      questions,
      history,
      journal,
      onTrouble,
    });
    const invite: SharesOptions['invite'] = (name, about, asked) => contacts.inviteToShare(name, about, asked);
    const { shares, mounts } = foldersOf(
      stateDir,
      { read, invite, events, questions, history, known: knownIn(configDir), onTrouble },
      async (name) => formatFingerprint((await contacts.store.get(name)).fingerprint),
    );
    const all = {} as { calls: LocalCalls };
    this.#parts = {
      version,
      configDir,
      stateDir,
      started: Date.now(),
      settings: { flags: { ...flags, config: configDir }, env, cwd },
      read,
      events,
      questions,
      history,
      transfers,
      shares,
      mounts,
      identity,
      contacts,
      page: new PageServer(this.place, stateDir, () => ({ ...all, drops: transfers.drops, pageDir }), onTrouble),
      clients: () => this.#server.clients,
      stop: () => this.stop(),
    };
    all.calls = callsOf(this.#parts);
    this.#server = new LocalServer(all.calls);
  }

  /**
   * Ends the daemon; the next one resumes its work. May be called again, also after a failure.
   *
   * @param force  end even if the work cannot be saved; the next daemon then resumes from the last saved state
   * @returns  the number of transfers to resume
   * @throws DISK_FULL, CONFIG_INVALID; the daemon then stays as it was
   */
  stop({ force = false } = {}): Promise<number> {
    this.#stopping ??= this.#stop(force).catch((reason) => {
      this.#stopping = undefined;
      throw reason;
    });
    return this.#stopping;
  }

  async #stop(force: boolean): Promise<number> {
    const { transfers, shares, mounts, contacts, events, page } = this.#parts;
    const saving = Promise.all([transfers.save(), shares.save(), mounts.save()]);
    await (force ? saving.catch((reason) => this.#onTrouble(KeibiError.from(reason, 'INTERNAL'))) : saving);
    await Promise.all([contacts.close(), mounts.close()]);
    const [unfinished] = await Promise.all([transfers.close(), shares.close()]);
    // Marks the stop as deliberate, so that clients do not restart the daemon as lost.
    const message = 'The daemon was stopped. Run the same command again to start it.';
    events.close(new KeibiError('DAEMON_LOST', message, { detail: { stopped: true } }));
    // The caller that requested the stop still gets its reply.
    setImmediate(async () => {
      await Promise.all([page.close(), this.#server.close()]);
      await this.#socket?.close();
      this.#end();
    });
    return unfinished;
  }
}

/** The files of transfers on the disk, next to the journal. */
function keptIn(stateDir: string): { drops: Drops; texts: KeptTexts } {
  return { drops: new Drops(join(stateDir, 'drops')), texts: new KeptTexts(join(stateDir, 'texts')) };
}

/** All calls; a missing group fails to compile. */
function callsOf(parts: DaemonParts): LocalCalls {
  return {
    ...statusCalls(parts),
    ...transferCalls(parts),
    ...shareCalls(parts),
    ...mountCalls(parts),
    ...historyCalls(parts),
    ...identityCalls(parts),
    ...contactCalls(parts),
    ...settingsCalls(parts),
    ...folderCalls(parts),
    ...pageCalls(parts),
  };
}

/** The shares, and the mounts that show them. */
function foldersOf(
  stateDir: string,
  common: Omit<SharesOptions, 'file' | 'journals' | 'onShare'>,
  fingerprintOf: (contact: string) => Promise<string>,
): { shares: Shares; mounts: Mounts } {
  const shares: Shares = new Shares({
    ...common,
    file: join(stateDir, 'shares.json'),
    journals: journalsOf(stateDir),
    onShare: (share, open, error) => mounts.follow(share, open, error),
  });
  const { events, onTrouble, read } = common;
  const mounts = new Mounts({
    shares,
    events,
    file: join(stateDir, 'mounts.json'),
    caches: join(stateDir, 'mounts'),
    fingerprintOf,
    read,
    onTrouble,
  });
  return { shares, mounts };
}

function downloads(): string {
  const folder = join(homedir(), 'Downloads');
  return existsSync(folder) ? folder : homedir();
}

function defined<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
