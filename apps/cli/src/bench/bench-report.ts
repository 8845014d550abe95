// SPDX-License-Identifier: MPL-2.0
import { availableParallelism } from 'node:os';
import type { BenchEvent, BenchPart } from '@keibidrop/peer';
import { formatBytes, formatCount, formatRate } from '../display/format.ts';
import { lineOf } from '../display/json-lines.ts';
import { type Io, paint } from '../terminal/io.ts';
import { harmless } from '../terminal/terminal-text.ts';

type Figure = Extract<BenchEvent, { type: 'start' | 'measured' | 'roundTrip' | 'limit' }>;
type Measured = Extract<Figure, { type: 'measured' }>;
type Limit = Extract<Figure, { type: 'limit' }>;

/** Words for each part: in the table, beside its figure, and in the sentence. */
const PARTS: Readonly<Record<BenchPart, { group: string; name: string; remark: string; subject: string }>> = {
  write: { group: 'disk', name: 'write', remark: 'flushed to the disk', subject: 'writing to the disk' },
  read: { group: 'disk', name: 'read', remark: 'not from the page cache', subject: 'reading from the disk' },
  seal: { group: 'cipher', name: 'seal', remark: 'one core', subject: 'the cipher' },
  open: { group: 'cipher', name: 'open', remark: 'one core', subject: 'the cipher' },
  sha256: { group: 'digest', name: 'sha-256', remark: 'one core, for --verify', subject: 'the digest' },
  loopback: { group: 'socket', name: 'TCP', remark: 'on this machine', subject: 'the socket' },
  link: { group: 'link', name: 'sealed', remark: 'memory to memory, not stored', subject: 'the link' },
  peerRead: { group: 'peer', name: 'read', remark: 'from its disk, not stored', subject: "the peer's disk" },
  whole: { group: 'whole', name: 'send, receive', remark: 'disk to disk, until complete', subject: 'the whole' },
  wholeOnDisk: { group: 'whole', name: 'and flush', remark: 'flushed to the disk', subject: 'the whole' },
};

/** If the whole is this much faster than the slowest part, the data went into memory first. */
const INTO_MEMORY = 1.3;

/** Whether an event belongs in the report; the others are events of a transfer. */
export function isFigure(event: BenchEvent): event is Figure {
  return ['start', 'measured', 'roundTrip', 'limit'].includes(event.type);
}

/** Prints figures as they arrive, as a table or as JSON lines, then one sentence. */
export class BenchReport {
  readonly #io: Io;
  readonly #options: { json?: boolean; quiet?: boolean };
  #group = '';

  constructor(io: Io, options: { json?: boolean; quiet?: boolean }) {
    this.#io = io;
    this.#options = options;
  }

  show(figure: Figure): void {
    const { stdout, stderr } = this.#io;
    if (this.#options.json) {
      stdout.write(jsonLine(figure));
      return;
    }
    switch (figure.type) {
      case 'start': {
        const text = `Measuring with files of ${formatBytes(figure.bytes)} in ${harmless(figure.dir)}, on ${formatCount(availableParallelism(), 'core')}.`;
        if (!this.#options.quiet) stderr.write(`${paint(stderr, 'dim', text)}\n`);
        break;
      }
      case 'measured':
        this.#row(PARTS[figure.part].group, nameOf(figure), formatRate(figure.bytesPerSecond), remarkOf(figure));
        break;
      case 'roundTrip':
        this.#row('link', 'round trip', formatMilliseconds(figure.seconds), 'of a TCP connection');
        break;
      case 'limit':
        stdout.write(`\n${paint(stdout, 'bold', wrapped(limitSentence(figure), stdout.columns()))}\n`);
    }
  }

  /** Last line of the waiting side; --json has printed it already. */
  served(bytes: number): void {
    if (this.#options.json || this.#options.quiet) return;
    this.#io.stdout.write(`Served a bench of ${formatBytes(bytes)}; nothing was stored.\n`);
  }

  #row(group: string, name: string, figure: string, remark: string): void {
    const { stdout } = this.#io;
    const first = group === this.#group ? '' : group;
    this.#group = group;
    stdout.write(`${first.padEnd(8)}${name.padEnd(24)}${figure.padStart(11)}  ${paint(stdout, 'dim', remark)}\n`);
  }
}

function nameOf({ part, suite }: Measured): string {
  return suite === undefined ? PARTS[part].name : `${suite} ${PARTS[part].name}`;
}

function remarkOf({ part, fromMemory }: Measured): string {
  return fromMemory ? 'kept in memory only' : PARTS[part].remark;
}

function formatMilliseconds(seconds: number): string {
  return `${(seconds * 1000).toFixed(seconds < 0.01 ? 2 : 1)} ms`;
}

/** The `--json` line of a figure, in whole bytes per second. */
function jsonLine(figure: Figure): string {
  if (figure.type === 'start') return lineOf('start', { bytes: figure.bytes, dir: figure.dir });
  if (figure.type === 'roundTrip') return lineOf('roundTrip', { seconds: Number(figure.seconds.toFixed(6)) });
  const { type, ...fields } = figure;
  const bytesPerSecond = Math.round(fields.bytesPerSecond);
  if (figure.type === 'measured') return lineOf(type, { ...fields, bytesPerSecond });
  const { part, next, wholeBytesPerSecond } = figure;
  return lineOf(type, {
    part,
    bytesPerSecond,
    ...(next && { next: { ...next, bytesPerSecond: Math.round(next.bytesPerSecond) } }),
    wholeBytesPerSecond: Math.round(wholeBytesPerSecond),
    message: limitSentence(figure),
  });
}

/** "Writing to the disk is the limit: 410 MB/s; the cipher could do 4.4 GB/s." */
export function limitSentence({ part, bytesPerSecond, next, wholeBytesPerSecond }: Limit): string {
  const rate = formatRate(bytesPerSecond);
  const other = next ? `; ${PARTS[next.part].subject} could do ${formatRate(next.bytesPerSecond)}` : '';
  if (part === 'sharing') return `No single part is the limit; all of them together are: ${rate}${other}.`;
  const { subject } = PARTS[part];
  const sentence = `${subject.charAt(0).toUpperCase()}${subject.slice(1)} is the limit: ${rate}${other}.`;
  const memoryFirst = part === 'write' && wholeBytesPerSecond > INTO_MEMORY * bytesPerSecond;
  return memoryFirst
    ? `${sentence} Data that fits into memory arrives at ${formatRate(wholeBytesPerSecond)}, before it is flushed.`
    : sentence;
}

/** Wraps `text` between words; the last column stays free. */
function wrapped(text: string, columns: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length >= columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
