// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeibiError } from '@keibidrop/protocol';
import { askRouter, notifyRouter } from './ask-router.ts';
import { defaultGatewayOf, type MappedPort, NONCE_BYTES } from './port-control.ts';
import { askByUpnp } from './upnp.ts';

interface Held {
  readonly mapped: MappedPort;
  giveBack(): Promise<unknown>;
}

/** Long enough for a transfer, and short for mappings that a killed process leaves behind. */
const LIFETIME_SECONDS = 3600;
const SHORTEST_RENEWAL_MS = 60_000;
const GIVE_BACK_MS = 300;
/** Pause before a router that refused or did not answer is asked again. */
const RETRY_MS = 10 * 60_000;

/**
 * Maps a port of the router in front of this machine to `port` and renews the mapping in time. Does not keep the process alive.
 *
 * @param onState  called with each mapping or renewal, and with the reason when the port is not (or no longer) mapped
 * @returns        ends the mapping and gives the port back, with a short limit on the wait
 */
export function keepPortMapped(port: number, onState: (state: MappedPort | KeibiError) => void): () => Promise<void> {
  const over = new AbortController();
  const keeping = keep(port, onState, over.signal);
  return () => {
    over.abort(new KeibiError('CANCELLED', 'The port is no longer needed.'));
    return keeping;
  };
}

/** Maps a port and gives it back, for diagnosis. @throws PEER_UNREACHABLE; `signal.reason` on abort */
export async function tryPortMapping(port: number, { signal }: { signal: AbortSignal }): Promise<MappedPort> {
  const nonce = randomBytes(NONCE_BYTES);
  // Requests do not keep the process alive, but here the caller waits for the result.
  const waiting = setInterval(() => {}, RETRY_MS);
  try {
    const held = await ask(port, { outside: port, nonce, signal });
    await givenBack(held);
    return held.mapped;
  } finally {
    clearInterval(waiting);
  }
}

async function keep(
  port: number,
  onState: (state: MappedPort | KeibiError) => void,
  signal: AbortSignal,
): Promise<void> {
  const nonce = randomBytes(NONCE_BYTES);
  let held: Held | undefined;
  while (!signal.aborted) {
    let renewMs = RETRY_MS;
    try {
      held = await ask(port, { outside: held?.mapped.port ?? port, nonce, signal });
      renewMs = Math.max((held.mapped.lifetimeSeconds * 1000) / 2, SHORTEST_RENEWAL_MS);
      if (!signal.aborted) onState(held.mapped);
    } catch (reason) {
      if (!signal.aborted) onState(KeibiError.from(reason, 'PEER_UNREACHABLE'));
    }
    await sleep(renewMs, undefined, { signal, ref: false }).catch(() => {});
  }
  if (held !== undefined) await givenBack(held);
}

/** Gives the port back, waiting at most GIVE_BACK_MS; a mapping that stays expires by itself. */
async function givenBack(held: Held): Promise<void> {
  const late = new AbortController();
  const waited = sleep(GIVE_BACK_MS, undefined, { signal: late.signal, ref: false }).catch(() => {});
  await Promise.race([held.giveBack().catch(() => {}), waited]);
  late.abort();
}

/** Asks by PCP or NAT-PMP if the gateway is known; else by UPnP. */
async function ask(port: number, wish: { outside: number; nonce: Uint8Array; signal: AbortSignal }): Promise<Held> {
  const gateway = await findGateway();
  const request = { port, outside: wish.outside, lifetimeSeconds: LIFETIME_SECONDS };
  const failures: string[] = [];
  if (gateway !== undefined) {
    try {
      const mapped = await askRouter(gateway, request, wish);
      const over = { port, outside: 0, lifetimeSeconds: 0 };
      return { mapped, giveBack: () => notifyRouter(gateway, over, mapped.by, wish.nonce) };
    } catch (reason) {
      wish.signal.throwIfAborted();
      failures.push(KeibiError.from(reason, 'PEER_UNREACHABLE').message);
    }
  }
  try {
    const { outside, host, lifetimeSeconds, giveBack } = await askByUpnp(request, wish);
    return { mapped: { by: 'UPnP', host, port: outside, lifetimeSeconds }, giveBack };
  } catch (reason) {
    const { message } = KeibiError.from(reason, 'PEER_UNREACHABLE');
    throw new KeibiError('PEER_UNREACHABLE', [...failures, message].join(' '), { cause: reason });
  }
}

async function findGateway(): Promise<string | undefined> {
  return defaultGatewayOf(await readFile('/proc/net/route', 'utf8').catch(() => ''));
}
