// SPDX-License-Identifier: MPL-2.0
import type { MailboxShare } from './mailbox-share.ts';
import type { RelayServerStats } from './metrics.ts';
import type { RelayServerLimits } from './relay-limits.ts';
import type { CertificateFiles } from './tls-listener.ts';

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

/**
 * Serves the rendezvous, the relay, `/healthz` and `/metrics` on one port until closed (PROTOCOL 2).
 *
 * @throws CONFIG_INVALID if the port, Redis or the certificate cannot be used; `signal.reason` on abort
 */
export async function openRelayServer(options: RelayServerOptions): Promise<RelayServer> {
  options.signal.throwIfAborted();
  // Loaded on demand: a sender's embedded rendezvous needs neither log nor metrics, and few servers need Redis.
  const [{ RunningRelayServer }, share] = await Promise.all([import('./relay-server.ts'), shareBy(options.redis)]);
  try {
    options.signal.throwIfAborted();
    return new RunningRelayServer(options, share);
  } catch (reason) {
    share?.close();
    throw reason;
  }
}

async function shareBy(redis: string | undefined): Promise<MailboxShare | undefined> {
  if (redis === undefined) return undefined;
  const { MailboxShare: Share } = await import('./mailbox-share.ts');
  return Share.open(redis);
}
