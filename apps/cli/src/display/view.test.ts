// SPDX-License-Identifier: MPL-2.0
import { eventJson, type PeerEvent } from '@keibidrop/peer';
import { describe, expect, it } from 'vitest';
import { createRecordedIo } from '../../test/recorded-io.ts';
import { shownBy } from '../../test/small-terminal.ts';
import { createView, type ViewOptions } from './view.ts';

const MB = 1e6;
const size = { columns: 80, rows: 24 };

function watch(options: Partial<ViewOptions> = {}) {
  const io = createRecordedIo({ terminal: true, ...size });
  const view = createView(io, { eventJson }, { role: 'send', receivers: 0, ...options });
  return { io, view, shown: () => shownBy(io.printed.stderr, size).map(squeezed) };
}

/** A line without the length of its bar and of gaps. */
function squeezed(line: string): string {
  return line.replace(/▕.*▏/, '▕▏').replace(/ +/g, ' ').trim();
}

const connected = (session: number, peer = 'bob'): PeerEvent => ({
  type: 'connected',
  path: 'local',
  suite: 'aes-256-gcm',
  peer,
  session,
});

const progress = (session: number, bytes: number, bytesPerSecond = MB): PeerEvent => ({
  type: 'progress',
  session,
  files: 1,
  bytes,
  totalFiles: 4,
  totalBytes: 100 * MB,
  totalsFinal: true,
  bytesPerSecond,
  file: 'photos/cat.jpg',
});

const done = (session: number, peer = 'bob'): PeerEvent => ({
  type: 'receiverDone',
  session,
  peer,
  files: 4,
  bytes: 100 * MB,
  skipped: 0,
  resumedBytes: 0,
  seconds: 2,
  failed: 0,
});

describe('a sender to several receivers', () => {
  it('shows a line for each receiver in order, and finished ones above', () => {
    const { io, view, shown } = watch();
    view.onEvent(connected(2, 'carol\u001b[2J'));
    view.onEvent(connected(1));
    view.onEvent(progress(2, 50 * MB, 25 * MB));
    expect(shown()).toEqual([
      'Receiver 2 is carol\\x1b[2J (local, aes-256-gcm).',
      'Receiver 1 is bob (local, aes-256-gcm).',
      '1 bob ▕▏ not begun local',
      '2 carol\\x1b[2J 50% ▕▏ 50.0/100 MB 25.0 MB/s ETA 0:02 local',
      '2 receivers ▕▏ 50.0/100 MB+ 25.0 MB/s',
    ]);
    io.advance(100);
    view.onEvent(progress(1, MB));
    view.onEvent(done(2, 'carol'));
    view.onEvent({
      type: 'receiverLost',
      session: 7,
      peer: 'dave',
      code: 'SESSION_LOST',
      message: '',
      mayReturn: false,
    });
    expect(shown().slice(2)).toEqual([
      '2 carol has 4 files, 100 MB in 2.0 s (50.0 MB/s).',
      'Warning: 7 dave left before it had everything.',
      '1 bob 1% ▕▏ 1.0/100 MB 1.0 MB/s ETA 1:39 local',
      '1/4 files photos/cat.jpg',
    ]);
    view.end();
    expect(shown().at(-1)).toBe('');
  });

  it('shows as many lines as fit, and counts the rest', () => {
    const { io, view, shown } = watch();
    for (let session = 1; session <= 30; session++) view.onEvent(connected(session));
    for (let session = 1; session <= 30; session++) view.onEvent(progress(session, MB));
    io.advance(100);
    view.onEvent(progress(30, MB));
    const lines = shown();
    expect(lines).toHaveLength(size.rows);
    expect(lines.filter((line) => / bob /.test(line) && !line.startsWith('Receiver'))).toHaveLength(18);
    expect(lines.slice(-2)).toEqual(['and 12 receivers more', '30 receivers 1% ▕▏ 30.0 MB/3.0 GB 30.0 MB/s ETA 1:39']);
  });

  it('stops showing the rate of a silent receiver', () => {
    const { io, view, shown } = watch();
    for (const session of [1, 2]) view.onEvent(connected(session));
    for (const session of [1, 2]) view.onEvent(progress(session, MB));
    io.advance(5000);
    view.onEvent(progress(2, 2 * MB));
    expect(shown().slice(-3)).toEqual([
      '1 bob 1% ▕▏ 1.0/100 MB 0 B/s local',
      '2 bob 2% ▕▏ 2.0/100 MB 1.0 MB/s ETA 1:38 local',
      '2 receivers 1% ▕▏ 3.0/200 MB 1.0 MB/s ETA 3:17',
    ]);
  });

  it('reports that a receiver has the text', () => {
    const { view, shown } = watch({ text: 'hello' });
    view.onEvent(connected(1));
    view.onEvent(done(1));
    expect(shown()).toContain('1 bob has the text.');
  });
});

describe('a lost session', () => {
  it('shows one reconnecting notice at the receiver, then resumes its progress', () => {
    const { view, shown } = watch({ role: 'receive' });
    view.onEvent(connected(1));
    view.onEvent(progress(1, 50 * MB));
    for (const attempt of [1, 2]) {
      view.onEvent({ type: 'reconnecting', reason: 'The connection was lost.', attempt, nextInMs: 250 });
    }
    const lost = [
      'Connected to bob (local, aes-256-gcm).',
      'Warning: The connection was lost. Reconnecting; Ctrl-C stops.',
    ];
    expect(shown()).toEqual([...lost, '50% ▕▏ 50.0/100 MB reconnecting local', '1/4 files photos/cat.jpg']);
    view.onEvent(connected(1));
    view.onEvent(progress(1, 51 * MB));
    view.end();
    expect(shown()).toEqual([...lost, 'Connected again to bob (local, aes-256-gcm).', '']);
  });

  it('shows as away at the sender until it is back', () => {
    const { view, shown } = watch();
    view.onEvent(connected(1));
    const lost = { type: 'receiverLost', session: 1, peer: 'bob', code: 'SESSION_LOST', message: 'm' } as const;
    view.onEvent(progress(1, 50 * MB));
    view.onEvent({ ...lost, mayReturn: true });
    expect(shown().slice(-2)).toEqual(['1 bob 50% ▕▏ 50.0/100 MB away local', '1/4 files photos/cat.jpg']);
    view.onEvent(connected(1));
    view.end();
    expect(shown()).toEqual([
      'Receiver 1 is bob (local, aes-256-gcm).',
      'Warning: 1 bob is away: the connection was lost. It resumes once it is back.',
      'Receiver 1 is back: bob (local, aes-256-gcm).',
      '',
    ]);
  });
});

describe('a pause', () => {
  it('by a peer affects its session, and one by this side affects all', () => {
    const { io, view, shown } = watch();
    for (const session of [1, 2]) view.onEvent(connected(session));
    for (const session of [1, 2]) view.onEvent(progress(session, MB));
    io.advance(100);
    view.onEvent({ type: 'paused', paused: true, by: 'peer', session: 2 });
    expect(shown().slice(-4)).toEqual([
      '2 bob has paused.',
      '1 bob 1% ▕▏ 1.0/100 MB 1.0 MB/s ETA 1:39 local',
      '2 bob 1% ▕▏ 1.0/100 MB paused local',
      '2 receivers 1% ▕▏ 2.0/200 MB 1.0 MB/s ETA 3:18',
    ]);
    io.advance(100);
    view.onEvent({ type: 'paused', paused: false, by: 'peer', session: 2 });
    view.onEvent({ type: 'paused', paused: true, by: 'self' });
    expect(shown().slice(-4)).toEqual([
      'Paused; press p to resume.',
      '1 bob 1% ▕▏ 1.0/100 MB paused local',
      '2 bob 1% ▕▏ 1.0/100 MB paused local',
      '2 receivers 1% ▕▏ 2.0/200 MB 0 B/s',
    ]);
  });
});

it('shows one line without a name for a send to one receiver', () => {
  const { view, shown } = watch({ receivers: 1 });
  view.onEvent(connected(1));
  view.onEvent(progress(1, MB));
  view.onEvent(done(1));
  expect(shown()).toEqual([
    'Connected to bob (local, aes-256-gcm).',
    '1% ▕▏ 1.0/100 MB 1.0 MB/s ETA 1:39 local',
    '1/4 files photos/cat.jpg',
  ]);
});

/** The terminal output for `events`. */
function shown(events: PeerEvent[], options: ViewOptions): string {
  const io = createRecordedIo();
  const view = createView(io, { eventJson }, options);
  for (const event of events) view.onEvent(event);
  view.end();
  return io.printed.stderr;
}

describe('messages about the connection path', () => {
  const rendezvous = { type: 'rendezvous', address: 'meet.example.org:26431' } as const;

  it('shows where a sender waits, and that a failed rendezvous is retried', () => {
    const events: PeerEvent[] = [
      { ...rendezvous, state: 'lost', message: 'No rendezvous answers at meet.example.org:26431.' },
      { ...rendezvous, state: 'open', relay: true },
    ];
    expect(shown(events, { role: 'send' })).toBe(
      'Warning: No rendezvous answers at meet.example.org:26431. Retrying.\n' +
        'Waiting at the rendezvous meet.example.org:26431, which relays.\n',
    );
  });

  it('shows the replies of the router with --verbose', () => {
    const events: PeerEvent[] = [
      { type: 'mapping', state: 'open', address: '198.51.100.1:26431', by: 'PCP' },
      { type: 'mapping', state: 'failed', message: 'The router refuses to map a port (PCP, result 2).' },
    ];
    expect(shown(events, { role: 'send' })).toBe('');
    expect(shown(events, { role: 'send', verbose: true })).toBe(
      'The router forwards 198.51.100.1:26431 to this computer (PCP).\nThe router refuses to map a port (PCP, result 2).\n',
    );
  });

  it('shows no address of a sender that cannot be dialled', () => {
    const waiting: PeerEvent = { type: 'waiting', host: '127.0.0.1', port: 9 };
    expect(shown([waiting], { role: 'send', relayOnly: true })).toBe('Waiting for a relay; Ctrl-C ends the offer.\n');
    expect(shown([waiting], { role: 'send' })).toContain('127.0.0.1:9, for --connect');
  });

  it('shows with --verbose which better paths failed, and why', () => {
    const tried = [
      { transport: 'direct', address: '[::1]:9', code: 'PEER_UNREACHABLE', reason: 'no\u001banswer' },
    ] as const;
    const events: PeerEvent[] = [
      { type: 'connected', path: 'relay', suite: 'aes-256-gcm', peer: 'bob', session: 1, tried },
    ];
    const connected = 'Connected to bob (relay, aes-256-gcm).\n';
    expect(shown(events, { role: 'receive' })).toBe(connected);
    expect(shown(events, { role: 'receive', verbose: true })).toBe(
      `${connected}  not through [::1]:9 (direct): no\\x1banswer\n`,
    );
  });

  it('shows with --verbose that a relayed transfer has moved to a better path', () => {
    const connected = { type: 'connected', suite: 'aes-256-gcm', peer: 'bob', session: 1 } as const;
    const events: PeerEvent[] = [
      { ...connected, path: 'relay' },
      { ...connected, path: 'punched' },
    ];
    const began = 'Connected to bob (relay, aes-256-gcm).\n';
    expect(shown(events, { role: 'receive' })).toBe(began);
    expect(shown(events, { role: 'receive', verbose: true })).toBe(`${began}Moved from relay to punched.\n`);
  });
});
