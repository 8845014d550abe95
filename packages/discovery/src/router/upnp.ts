// SPDX-License-Identifier: MPL-2.0
import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import { KeibiError } from '@keibidrop/protocol';
import type { UpnpDevice } from '@silentbot1/nat-api/lib/upnp/ssdp.js';
import { isPrivateAddress } from '../lan/lan-networks.ts';
import type { PortGrant, PortRequest } from './port-control.ts';

/** Newer routers answer to version 1 too (UPnP Device Architecture 2.0, 1.3.2). */
const GATEWAY = 'urn:schemas-upnp-org:device:InternetGatewayDevice:1';
const SEARCH_MS = 2500;
const ANSWER_MS = 5000;
/** Tries the requested port first, then random ones, in case it is in use. */
const TRIES = 3;
const DESCRIPTION = 'KeibiDrop';

/**
 * Asks the network's router for a TCP port by UPnP.
 * @throws PEER_UNREACHABLE if no router answers or it refuses; `signal.reason` on abort
 */
export async function askByUpnp(
  { port, outside, lifetimeSeconds }: PortRequest,
  { signal }: { signal: AbortSignal },
): Promise<PortGrant & { host: string; giveBack(): Promise<unknown> }> {
  return withGateway(signal, async (gateway, own) => {
    for (let tries = 1; ; tries++) {
      const chosen = tries === 1 ? outside : randomInt(20_000, 60_000);
      try {
        await gateway.run('AddPortMapping', [
          ...whichPort(chosen),
          ['NewInternalPort', port],
          ['NewInternalClient', own],
          ['NewEnabled', 1],
          ['NewPortMappingDescription', DESCRIPTION],
          ['NewLeaseDuration', lifetimeSeconds],
        ]);
        const answer = await gateway.run('GetExternalIPAddress', []);
        const giveBack = () => gateway.run('DeletePortMapping', whichPort(chosen));
        return { outside: chosen, lifetimeSeconds, host: addressOf(answer), giveBack };
      } catch (reason) {
        if (tries === TRIES) throw reason;
      }
    }
  });
}

function whichPort(outside: number): [string, string | number][] {
  return [
    ['NewRemoteHost', ''],
    ['NewExternalPort', outside],
    ['NewProtocol', 'TCP'],
  ];
}

/** Loads the library here, because most senders never need it. */
async function withGateway<T>(signal: AbortSignal, use: (gateway: UpnpDevice, own: string) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { default: Ssdp } = await import('@silentbot1/nat-api/lib/upnp/ssdp.js');
  const ssdp = new Ssdp();
  try {
    const found = await inTime(ssdp.search(GATEWAY, SEARCH_MS), SEARCH_MS, signal);
    if (found === undefined || !isNear(found.device.url)) throw new Error('No router answers.');
    return await inTime(use(found.device, found.address), ANSWER_MS, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new KeibiError('PEER_UNREACHABLE', 'The router does not map ports by UPnP.', { cause });
  } finally {
    void ssdp.destroy();
  }
}

/** Accepts only private addresses: any host on the network can answer, and must not direct us elsewhere. */
function isNear(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && isIP(hostname) === 4 && isPrivateAddress(hostname);
}

async function inTime<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        onAbort = () => reject(signal.reason);
        signal.addEventListener('abort', onAbort);
        timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms).unref();
      }),
    ]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function addressOf(answer: Record<string, Record<string, unknown>>): string {
  const [, fields] = Object.entries(answer).find(([name]) => name.endsWith('GetExternalIPAddressResponse')) ?? [];
  const host = fields?.NewExternalIPAddress;
  if (typeof host !== 'string' || isIP(host) !== 4) throw new Error('The router does not know its address.');
  return host;
}
