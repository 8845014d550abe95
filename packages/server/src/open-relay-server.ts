// SPDX-License-Identifier: MPL-2.0
import type { MailboxShare } from './mailbox-share.ts';
import type { RelayServer, RelayServerOptions } from './relay-server.ts';

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
