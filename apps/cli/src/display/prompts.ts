// SPDX-License-Identifier: MPL-2.0
import type { CollisionAnswer, OfferSummary } from '@keibidrop/peer';
import type { PeerPackage } from '../peer-package.ts';
import { fitted, type Io, paint, type Screen } from '../terminal/io.ts';
import { harmless, quoted } from '../terminal/terminal-text.ts';
import { formatBytes, formatCount, formatNumber } from './format.ts';
import { folderName } from './outcome.ts';

const SHOWN_NAMES = 20;

/**
 * Shows an offer and asks whether to receive it; only yes accepts.
 *
 * @param destination  undefined: standard output
 */
export async function askAboutOffer(
  offer: OfferSummary,
  io: Io,
  { destination, peer }: { destination: string | undefined; peer: Pick<PeerPackage, 'freeBytes'> },
): Promise<boolean> {
  const free = destination === undefined ? undefined : await peer.freeBytes(destination);
  const shown = destination === undefined ? undefined : folderName(destination, io);
  io.stderr.write(offerText(offer, { screen: io.stderr, destination: shown, free }));
  const answer = await io.ask(`Receive ${offer.text || offer.files + offer.symlinks === 1 ? 'it' : 'them'}? [y/N] `);
  return /^\s*y(es)?\s*$/i.test(answer);
}

/** The offer: files, peer, destination and free space. Names come from the peer, so they are escaped. */
export function offerText(
  offer: OfferSummary,
  where: { screen: Screen; destination: string | undefined; free: number | undefined },
): string {
  const { screen, destination, free } = where;
  const peer = paint(screen, 'bold', harmless(offer.peer));
  const lines = [`${peer} offers ${contentsOf(offer)}  (${offer.path}, ${offer.suite})`];
  for (const name of offer.names.slice(0, SHOWN_NAMES)) lines.push(`  ${harmless(name)}`);
  const more = offer.nameCount - Math.min(offer.names.length, SHOWN_NAMES);
  if (more > 0) lines.push(`  and ${formatNumber(more)} more`);
  if (destination !== undefined && !offer.text) {
    const room = free === undefined ? '' : `, where ${formatBytes(free)} are free`;
    lines.push(`into ${harmless(destination)}${room}.`);
    if (free !== undefined && offer.bytes > free) {
      lines.push(paint(screen, 'red', `That is ${formatBytes(offer.bytes - free)} more than the free space.`));
    }
  }
  return `${fitted(screen, lines.join('\n'))}\n`;
}

function contentsOf(offer: OfferSummary): string {
  if (offer.text) return `a text of ${formatBytes(offer.bytes)}`;
  const parts = [formatCount(offer.files, 'file')];
  if (offer.directories > 0) parts.push(formatCount(offer.directories, 'folder'));
  if (offer.symlinks > 0) parts.push(formatCount(offer.symlinks, 'link'));
  const size = offer.stream ? 'of unknown size' : formatBytes(offer.bytes);
  return `${parts.join(', ')}, ${size}`;
}

const answers: Readonly<Record<string, CollisionAnswer>> = { o: 'overwrite', s: 'skip', r: 'rename' };

/** Answer to one collision; `always` applies it to all later ones. */
interface CollisionReply {
  answer: CollisionAnswer;
  always: boolean;
}

/** Asks until the answer is valid; at the end of input the existing file stays. A capital letter answers for all. */
export async function askAboutCollision(path: string, io: Io): Promise<CollisionReply> {
  io.stderr.write(`${fitted(io.stderr, `${quoted(path)} exists already and differs.`)}\n`);
  for (;;) {
    const typed = (await io.ask('(o)verwrite, (s)kip, (r)ename the new one; a capital answers for all: ')).trim();
    if (typed === '') return { answer: 'skip', always: false };
    const answer = answers[typed[0]?.toLowerCase() ?? ''];
    if (answer !== undefined) return { answer, always: typed[0] !== typed[0]?.toLowerCase() };
  }
}

/** Turns the question about one collision into a policy that stops asking after a reply for all. */
export function createCollisionPolicy(
  ask: (path: string) => Promise<CollisionReply>,
): (path: string) => Promise<CollisionAnswer> {
  let forAll: CollisionAnswer | undefined;
  return async (path) => {
    if (forAll !== undefined) return forAll;
    const { answer, always } = await ask(path);
    if (always) forAll = answer;
    return answer;
  };
}
