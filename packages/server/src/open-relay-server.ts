// SPDX-License-Identifier: MPL-2.0
import type { MailboxShare } from './mailbox-share.ts';
import type { RelayServerStats } from './metrics.ts';
import type { RelayServerLimits } from './relay-limits.ts';
import type { CertificateFiles } from './tls-door.ts';

export interface RelayServerOptions {
  /** A numeric host; port 0 is any free one. */
  listen: { host: string; port: number };
  /** Instead of those of DEFAULT_RELAY_LIMITS. */
  limits?: Partial<RelayServerLimits>;
  /** Shares mailboxes by the Redis at this URL with every other server that does. Absent: they are kept in memory. */
  redis?: string | undefined;
  /** Where this server, and no other, is reached by everybody: what its relay is told as. */
  advertise?: { host: string; port: number } | undefined;
  /** Rendezvous and status pages by TLS, too. */
  certificate?: CertificateFiles | undefined;
  /** Takes the log, a JSON object a line. It holds no token, no mailbox and no body. */
  log: { level: 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace'; write(line: string): void };
  /** Ends the opening. */
  signal: AbortSignal;
}

/** A running rendezvous and relay. */
export interface RelayServer {
  readonly host: string;
  readonly port: number;
  stats(): RelayServerStats;
  /** Reads the certificate again; what is wrong with it is logged, and the one before stays. */
  reloadCertificate(): void;
  /** Lets nobody in any more and resolves when the last pair has ended, at the latest after `limits.drainMs`. */
  drain(): Promise<void>;
  /** Ends everything at once. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves the rendezvous, the relay, `/healthz` and `/metrics` on one port until closed (PROTOCOL 2).
 *
 * @throws CONFIG_INVALID if the port, Redis or the certificate cannot be had; `signal.reason` on abort
 */
export async function openRelayServer(options: RelayServerOptions): Promise<RelayServer> {
  options.signal.throwIfAborted();
  // Loaded only here: a sender, which embeds a rendezvous too, needs neither log nor metrics, and few servers need Redis.
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
