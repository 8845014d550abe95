// SPDX-License-Identifier: MPL-2.0
import { setTimeout as pause } from 'node:timers/promises';
import type { WaitingSender } from '@keibidrop/peer';
import type { Settings } from '@keibidrop/settings';
import type { PeerPackage } from '../peer-package.ts';
import { harmless } from '../terminal/terminal-text.ts';

/** The addresses of one sender arrive within this time of each other. */
const GATHER_MS = 300;
/** The first pause between two searches; each is twice as long as the one before (RFC 6762 5.2). */
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;
const NO_SENDER = 'No sender is heard on this network. A code may still lead to one elsewhere.';

type Tell = (text: string) => void;

/** Looks for senders on this machine and its networks while a question is asked. */
export interface NearbySenders {
  /** Reports each sender that appears or ends, as a sentence; starts the search. */
  tellTo(tell: Tell): void;
  /** Idempotent. */
  end(): void;
}

/** A sender does not say who it is, so its address stands for it. What is wrong with the network is left to the receive. */
export function nearbySenders(
  peer: Pick<PeerPackage, 'waitingSenders'>,
  { discovery, signal }: Pick<Settings, 'discovery'> & { signal: AbortSignal },
): NearbySenders {
  const ended = new AbortController();
  let tell: Tell | undefined;
  return {
    tellTo(to) {
      const started = tell !== undefined;
      tell = to;
      if (started) return;
      const until = AbortSignal.any([signal, ended.signal]);
      search(peer, discovery, until, (text) => tell?.(text)).catch(() => {});
    },
    end: () => ended.abort(),
  };
}

async function search(
  peer: Pick<PeerPackage, 'waitingSenders'>,
  discovery: Settings['discovery'],
  signal: AbortSignal,
  tell: Tell,
): Promise<never> {
  let known = new Map<string, string>();
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
    const before = known;
    known = await lookOnce(peer.waitingSenders({ discovery, signal }), (sender, place) => {
      if (!before.has(sender)) tell(`${place} is sending.`);
    });
    for (const [sender, place] of before) if (!known.has(sender)) tell(`${place} has stopped.`);
    if (wait === FIRST_PAUSE_MS && known.size === 0 && discovery !== 'off') tell(NO_SENDER);
    await pause(wait, undefined, { signal });
  }
}

/** @returns  each sender and its place @param report  called once for each, when the addresses are gathered */
async function lookOnce(
  senders: AsyncIterable<WaitingSender>,
  report: (sender: string, place: string) => void,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const reported = new Set<string>();
  const reportNew = () => {
    timer = undefined;
    for (const [sender, place] of found) {
      if (!reported.has(sender)) report(sender, place);
      reported.add(sender);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const sender of senders) {
      const id = sender.name ?? sender.address;
      found.set(id, better(found.get(id), placeOf(sender)));
      timer ??= setTimeout(reportNew, GATHER_MS);
    }
  } finally {
    clearTimeout(timer);
  }
  reportNew();
  return found;
}

/** `192.168.1.20`. */
function placeOf({ path, address }: WaitingSender): string {
  const host = address.slice(0, address.lastIndexOf(':'));
  return path === 'local' ? `This computer, port ${address.slice(host.length + 1)},` : harmless(host);
}

/** The address of a sender that people know best: IPv4. */
function better(before: string | undefined, place: string): string {
  return before === undefined || (before.startsWith('[') && !place.startsWith('[')) ? place : before;
}
