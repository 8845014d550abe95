// SPDX-License-Identifier: MPL-2.0

import { ContactStore, IdentityStore, parseContactName } from '@keibidrop/contacts';
import {
  findDaemon,
  freeBytes,
  History,
  offeredBy,
  openDaemon,
  placeOf,
  pullHistory,
  recording,
  stopDaemon,
} from '@keibidrop/daemon';
import {
  type BenchAgainstOptions,
  type BenchAloneOptions,
  type BenchEvent,
  eventJson,
  type OfferAnswer,
  type OfferSummary,
  PauseSwitch,
  type PeerEvent,
  planSend,
  type ReceiveOptions,
  type ReceiveResult,
  type SendOptions,
  type SendResult,
  type WaitForBenchOptions,
  type WaitingSender,
} from '@keibidrop/peer';
import { openRelayServer } from '@keibidrop/server';
import { configDirOf, journalsOf, knownIn, loadRelaySettings, loadSettings, stateDirOf } from '@keibidrop/settings';
import { type ShareEvent, type ShareOptions, shareEventJson } from '@keibidrop/share';

import type { PeerPackage } from '../src/peer-package.ts';

const noKeychain = () => Promise.reject(new Error('there is no keychain'));

export const DONE = { files: 2, bytes: 3e6, skipped: 0, resumedBytes: 0, seconds: 1.5 };

export const OFFER: OfferSummary = {
  files: 2,
  directories: 1,
  symlinks: 0,
  bytes: 3e6,
  names: ['photos', 'movie.mkv'],
  nameCount: 2,
  peer: 'alice',
  path: 'local',
  suite: 'aes-256-gcm',
};

/** Calls that the command under test made to the peer. */
export interface Asked {
  send?: SendOptions;
  receive?: ReceiveOptions;
  sendToContacts?: Parameters<PeerPackage['sendToContacts']>[0];
  accepted?: OfferAnswer;
  share?: ShareOptions;
  benchAlone?: BenchAloneOptions;
  benchAgainst?: BenchAgainstOptions;
  waitForBench?: WaitForBenchOptions;
}

/** A PeerPackage for tests: plays scripted events, settles as scripted, and records its calls. */
export function createScriptedPeer(script: {
  events?: PeerEvent[];
  figures?: BenchEvent[];
  shared?: ShareEvent[];
  offer?: OfferSummary;
  collisions?: string[];
  result?: Partial<SendResult & ReceiveResult>;
  error?: unknown;
  senders?: WaitingSender[];
  checks?: Awaited<ReturnType<ReturnType<PeerPackage['diagnose']>['next']>>['value'][];
}): { peer: PeerPackage; asked: Asked; answers: string[] } {
  const asked: Asked = {};
  const answers: string[] = [];
  const play = (options: Pick<SendOptions, 'onEvent'>): void => {
    for (const event of script.events ?? []) options.onEvent(event);
    if (script.error !== undefined) throw script.error;
  };
  const playBench = (options: { onEvent(event: BenchEvent): void }): void => {
    for (const event of [...(script.events ?? []), ...(script.figures ?? [])]) options.onEvent(event);
    if (script.error !== undefined) throw script.error;
  };
  const peer: PeerPackage = {
    configDirOf,
    ContactStore,
    eventJson,
    findDaemon,
    freeBytes,
    History,
    IdentityStore,
    // Tests do not use the developer's keychain.
    systemKeychain: () => ({ read: noKeychain, write: noKeychain, remove: noKeychain }),
    parseContactName,
    PauseSwitch,
    loadSettings,
    loadRelaySettings,
    openRelayServer,
    shareEventJson,
    offeredBy,
    openDaemon,
    // Tests open nothing on the desktop.
    openByDesktop: async () => false,
    placeOf,
    planSend,
    recording,
    pullHistory,
    journalsOf,
    knownIn,
    stateDirOf,
    stopDaemon,
    async send(options) {
      asked.send = options;
      play(options);
      return { ...DONE, failed: [], receivers: 1, ...script.result };
    },
    async sendToContacts(options) {
      asked.sendToContacts = options;
      play(options);
      return { ...DONE, failed: [], receivers: options.names.length, ...script.result };
    },
    async receive(options) {
      asked.receive = options;
      asked.accepted = (await options.confirm?.(script.offer ?? OFFER)) ?? true;
      for (const path of script.collisions ?? []) answers.push((await options.resolveCollision?.(path)) ?? 'none');
      play(options);
      return { ...DONE, failed: [], peer: 'alice', ...script.result };
    },
    async benchAlone(options) {
      asked.benchAlone = options;
      playBench(options);
    },
    async benchAgainst(options) {
      asked.benchAgainst = options;
      playBench(options);
    },
    async waitForBench(options) {
      asked.waitForBench = options;
      playBench(options);
      return { ...DONE, failed: [], receivers: 1, ...script.result };
    },
    async shareWithContacts() {},
    async share(options) {
      asked.share = options;
      for (const event of script.shared ?? []) options.onEvent(event);
      if (script.error !== undefined) throw script.error;
    },
    async *waitingSenders() {
      yield* script.senders ?? [];
    },
    async *diagnose() {
      for (const check of script.checks ?? []) if (check) yield check;
    },
  };
  return { peer, asked, answers };
}
