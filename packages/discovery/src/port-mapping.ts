// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeibiError } from '@keibidrop/protocol';
import { askRouter, tellRouter } from './ask-router.ts';
import { defaultGatewayOf, NONCE_BYTES } from './port-control.ts';
import { askByUpnp } from './upnp.ts';

/** A port of a router that leads to one of ours. */
export interface MappedPort {
  /** How the router was asked. */
  readonly by: 'PCP' | 'NAT-PMP' | 'UPnP';
  /** The router's outside address, as it says. */
  readonly host: string;
  readonly port: number;
  readonly lifetimeSeconds: number;
}

interface Held {
  readonly mapped: MappedPort;
  giveBack(): Promise<unknown>;
}

/** Long enough for a transfer, short for what a killed process leaves behind. */
const LIFETIME_SECONDS = 3600;
const SHORTEST_RENEWAL_MS = 60_000;
const GIVE_BACK_MS = 300;
/** A router that has refused or is away is asked again after this. */
const RETRY_MS = 10 * 60_000;

/**
 * Has the router in front of this machine lead one of its ports to `port`, and renews that in time. Keeps no process alive.
 *
 * @param onState  told when a port is mapped, now, anew or elsewhere, and with the reason when it cannot be (any more)
 * @returns        ends it and gives the port back, without waiting for an answer
 */
export function keepPortMapped(port: number, onState: (state: MappedPort | KeibiError) => void): () => Promise<void> {
  const over = new AbortController();
  const keeping = keep(port, onState, over.signal);
  return () => {
    over.abort(new KeibiError('CANCELLED', 'The port is not needed any more.'));
    return keeping;
  };
}

/** Maps a port and gives it back: for a diagnosis. @throws PEER_UNREACHABLE; `signal.reason` on abort */
export async function tryPortMapping(port: number, { signal }: { signal: AbortSignal }): Promise<MappedPort> {
  const nonce = randomBytes(NONCE_BYTES);
  // What asks keeps no process alive, and here somebody waits.
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

/** Whoever ends waits no longer for a router than this; what was not given back ends by itself. */
async function givenBack(held: Held): Promise<void> {
  const late = new AbortController();
  const waited = sleep(GIVE_BACK_MS, undefined, { signal: late.signal, ref: false }).catch(() => {});
  await Promise.race([held.giveBack().catch(() => {}), waited]);
  late.abort();
}

/** By PCP or NAT-PMP, where it is known whom to ask; else by UPnP. */
async function ask(port: number, wish: { outside: number; nonce: Uint8Array; signal: AbortSignal }): Promise<Held> {
  const gateway = await findGateway();
  const request = { port, outside: wish.outside, lifetimeSeconds: LIFETIME_SECONDS };
  const failures: string[] = [];
  if (gateway !== undefined) {
    try {
      const mapped = await askRouter(gateway, request, wish);
      const over = { port, outside: 0, lifetimeSeconds: 0 };
      return { mapped, giveBack: () => tellRouter(gateway, over, mapped.by, wish.nonce) };
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
