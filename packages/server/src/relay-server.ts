// SPDX-License-Identifier: MPL-2.0
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Incoming, Listener } from '@keibidrop/native';
import { KeibiError } from '@keibidrop/protocol';
import { type Logger, pino } from 'pino';
import type { MailboxShare } from './mailbox-share.ts';
import { createMetrics, droppedBy, type RelayServerStats } from './metrics.ts';
import { DEFAULT_RELAY_LIMITS, type RelayServerLimits } from './relay-limits.ts';
import { RendezvousServer } from './rendezvous.ts';
import { StatusPages } from './status-pages.ts';
import { type CertificateFiles, TlsListener } from './tls-listener.ts';

/** Interval at which refusals are logged. */
const REPORT_MS = 60_000;
/** Interval at which a draining server checks for remaining pairs. */
const DRAIN_LOOK_MS = 100;
const NO_TLS = { failed: 0, slow: 0, crowdedOut: 0 };

/** The server behind `openRelayServer`: one native port with the relay, the rendezvous and the status pages. */
export class RunningRelayServer implements RelayServer {
  readonly host: string;
  readonly port: number;
  readonly #limits: RelayServerLimits;
  readonly #log: Logger;
  readonly #listener: Listener;
  readonly #rendezvous: RendezvousServer;
  readonly #share: MailboxShare | undefined;
  readonly #tls: TlsListener | undefined;
  readonly #pages: StatusPages;
  /** Connections of a kind that this server does not serve. */
  #unserved = 0;
  readonly #reporting: NodeJS.Timeout;
  #reported: Record<string, number> = {};
  #draining = false;
  #closed = false;

  /** @throws CONFIG_INVALID if the port cannot be used */
  constructor({ listen, limits, log, advertise, certificate }: RelayServerOptions, share: MailboxShare | undefined) {
    this.#share = share;
    this.#tls = certificate && new TlsListener(certificate, (secure, kind) => this.#serve(secure, kind));
    this.#limits = { ...DEFAULT_RELAY_LIMITS, ...limits };
    this.#log = pino({ level: log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, log);
    this.#rendezvous = new RendezvousServer({
      limits: this.#limits.rendezvous,
      relay: { at: advertise, shared: share !== undefined },
      ...(share && { share: (local) => share.of(local, (change) => this.#log.warn(change, 'redis')) }),
    });
    const metrics = createMetrics(() => this.stats());
    const trouble = () => (this.#draining ? 'draining' : share?.trouble);
    this.#pages = new StatusPages({ trouble, metrics, requests: this.#limits.requests });
    this.#listener = openListener(listen, this.#limits.undecidedPerNetwork, (incoming) => this.#accept(incoming));
    this.#listener.serveRelay(this.#limits.relay);
    this.#reporting = setInterval(() => this.#reportDrops(), REPORT_MS).unref();
    this.host = this.#listener.host;
    this.port = this.#listener.port;
    this.#tls?.watch(() => this.reloadCertificate());
    this.#log.info({ host: this.host, port: this.port }, 'listening');
    void this.#rendezvous.ready().catch(() => {});
  }

  stats(): RelayServerStats {
    return {
      relay: this.#listener.relayStats(),
      rendezvous: this.#rendezvous.stats,
      tls: this.#tls?.drops ?? NO_TLS,
      pages: this.#pages.drops,
      unserved: this.#unserved,
    };
  }

  reloadCertificate(): void {
    try {
      this.#tls?.reload();
      this.#log.info('certificate read again');
    } catch (reason) {
      this.#log.error(
        { reason: reason instanceof Error ? reason.message : String(reason) },
        'certificate not read again',
      );
    }
  }

  async drain(): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    this.#rendezvous.drain();
    this.#listener.serveRelay({ ...this.#limits.relay, pairs: 0, waiting: 0 });
    this.#log.info({ pairs: this.stats().relay.pairs, atMostMs: this.#limits.drainMs }, 'draining');
    const until = performance.now() + this.#limits.drainMs;
    while (!this.#closed && this.stats().relay.pairs > 0 && performance.now() < until) await delay(DRAIN_LOOK_MS);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#reporting);
    this.#reportDrops();
    const { joined, bytes, pairs } = this.stats().relay;
    this.#pages.close();
    this.#tls?.close();
    await this.#rendezvous.close();
    this.#share?.close();
    await this.#listener.close();
    this.#log.info({ joined, bytes, cut: pairs }, 'ended');
  }

  /** Logs the address of a connection at `debug` only, and never which peers meet. */
  #accept({ kind, fd, remoteAddress }: Incoming): void {
    const socket = new Socket({ fd, readable: true, writable: true });
    this.#log.debug({ kind, remoteAddress }, 'connection');
    if (kind === 'tls' && this.#tls) this.#tls.attach(socket);
    else this.#serve(socket, kind);
  }

  #serve(socket: Socket, kind: Incoming['kind']): void {
    if (kind === 'rendezvous') this.#rendezvous.attach(socket);
    else if (kind === 'http') this.#pages.attach(socket);
    else {
      // A peer's control connection or lane, or TLS without a certificate.
      this.#unserved++;
      socket.destroy();
    }
  }

  #reportDrops(): void {
    const dropped = droppedBy(this.stats());
    const since = Object.entries(dropped).flatMap(([reason, count]) => {
      const more = count - (this.#reported[reason] ?? 0);
      return more > 0 ? [[reason, more] as const] : [];
    });
    this.#reported = dropped;
    if (since.length > 0) this.#log.warn({ dropped: Object.fromEntries(since) }, 'turned away');
  }
}

function openListener(
  { host, port }: { host: string; port: number },
  undecidedOfNetwork: number,
  onConnection: (incoming: Incoming) => void,
) {
  const options = { port, http: true, undecidedOfNetwork, onConnection };
  try {
    return Listener.open({ host, ...options });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A machine without IPv6 still has its IPv4 addresses.
    if (host === '::' && (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL')) {
      return Listener.open({ host: '0.0.0.0', ...options });
    }
    // Another port would not help; the caller names the limit.
    if (code === 'EMFILE' || code === 'ENFILE') throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot listen on ${host}, port ${port} (${why}). Choose another with --listen.`;
    throw new KeibiError('CONFIG_INVALID', message, { cause });
  }
}

export interface RelayServerOptions {
  /** `host` is numeric; port 0 selects a free one. */
  listen: { host: string; port: number };
  /** Override DEFAULT_RELAY_LIMITS. */
  limits?: Partial<RelayServerLimits>;
  /** URL of a Redis through which several servers share their mailboxes. Absent: mailboxes are kept in memory. */
  redis?: string | undefined;
  /** A public address that reaches only this server; announced as the address of its relay. */
  advertise?: { host: string; port: number } | undefined;
  /** Serve the rendezvous and the status pages over TLS, too. */
  certificate?: CertificateFiles | undefined;
  /** Receives the log, one JSON object per line. It contains no token, mailbox or body. */
  log: { level: 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace'; write(line: string): void };
  /** Aborts the opening. */
  signal: AbortSignal;
}

/** A running rendezvous and relay. */
export interface RelayServer {
  readonly host: string;
  readonly port: number;
  stats(): RelayServerStats;
  /** Reads the certificate again. On an error, logs it and keeps the previous one. */
  reloadCertificate(): void;
  /** Admits no more peers; resolves when the last pair has ended, after `limits.drainMs` at most. */
  drain(): Promise<void>;
  /** Ends everything at once. Idempotent. */
  close(): Promise<void>;
}
