// SPDX-License-Identifier: MPL-2.0
import { isIP } from 'node:net';
import { KeibiError } from '@keibidrop/protocol';

// Messages that ask a home router for a port: PCP (RFC 6887) and its predecessor NAT-PMP (RFC 6886), both on the same UDP port.
// Integers are big-endian. Only TCP over IPv4 is mapped, since NATs are there.
//
//   PCP MAP:     | 2 | op 1 | 0 2 | lifetime 4 | own address 16 | nonce 12 | 6 | 0 3 | port 2 | outside 2 | address 16 |
//   answer:      | 2 | op 129 | 0 | result 1 | lifetime 4 | epoch 4 | 0 12 | nonce 12 | 6 | 0 3 | port 2 | outside 2 | address 16 |
//   NAT-PMP:     | 0 | op 2 | 0 2 | port 2 | outside 2 | lifetime 4 |
//   answer:      | 0 | op 130 | result 2 | epoch 4 | port 2 | outside 2 | lifetime 4 |
//   NAT-PMP:     | 0 | op 0 |      answer: | 0 | op 128 | result 2 | epoch 4 | address 4 |

/** Routers serve both protocols here. */
export const PORT_CONTROL_PORT = 5351;
export const NONCE_BYTES = 12;

const PCP = 2;
const TCP = 6;
const MAP_BYTES = 60;
const MAPPED_PREFIX = Buffer.from('00000000000000000000ffff', 'hex');
const UNSUPPORTED_VERSION = 1;

/** A request for a port. Lifetime 0 gives the port back. */
export interface PortRequest {
  port: number;
  /** The outside port that we prefer or hold; the router may choose another. */
  outside: number;
  lifetimeSeconds: number;
}

/** The mapping that the router has granted. */
export interface PortGrant {
  outside: number;
  lifetimeSeconds: number;
}

/** @param own  our IPv4 address as the router sees it */
export function encodePcpMap({ port, outside, lifetimeSeconds }: PortRequest, own: string, nonce: Uint8Array): Buffer {
  const request = Buffer.alloc(MAP_BYTES);
  request.set([PCP, 1]);
  request.writeUInt32BE(lifetimeSeconds, 4);
  request.set([...MAPPED_PREFIX, ...own.split('.').map(Number)], 8);
  request.set(nonce, 24);
  request[36] = TCP;
  request.writeUInt16BE(port, 40);
  request.writeUInt16BE(outside, 42);
  request.set(MAPPED_PREFIX, 44);
  return request;
}

/**
 * Reads an answer to `encodePcpMap`.
 *
 * @returns  `'older'` if the router supports only NAT-PMP; undefined if the packet does not answer this request
 * @throws   PEER_UNREACHABLE if the router refuses
 */
export function decodePcpMap(
  answer: Buffer,
  port: number,
  nonce: Uint8Array,
): (PortGrant & { host: string }) | 'older' | undefined {
  if (answer.length < 4) return undefined;
  if (answer[0] === 0 && answer.readUInt16BE(2) === UNSUPPORTED_VERSION) return 'older';
  if (answer[0] !== PCP || answer[1] !== 0x81) return undefined;
  const result = answer[3] as number;
  if (result === UNSUPPORTED_VERSION) return 'older';
  if (answer.length < MAP_BYTES || !answer.subarray(24, 36).equals(nonce) || answer.readUInt16BE(40) !== port) {
    return undefined;
  }
  if (result !== 0) throw refused('PCP', result);
  const host = answer.subarray(56, 60).join('.');
  return { outside: answer.readUInt16BE(42), lifetimeSeconds: answer.readUInt32BE(4), host };
}

export function encodePmpMap({ port, outside, lifetimeSeconds }: PortRequest): Buffer {
  const request = Buffer.alloc(12);
  request[1] = 2;
  request.writeUInt16BE(port, 4);
  request.writeUInt16BE(outside, 6);
  request.writeUInt32BE(lifetimeSeconds, 8);
  return request;
}

/** Reads an answer to `encodePmpMap`. @throws as `decodePcpMap` */
export function decodePmpMap(answer: Buffer, port: number): PortGrant | undefined {
  if (answer.length < 16 || answer[0] !== 0 || answer[1] !== 130 || answer.readUInt16BE(8) !== port) return undefined;
  const result = answer.readUInt16BE(2);
  if (result !== 0) throw refused('NAT-PMP', result);
  return { outside: answer.readUInt16BE(10), lifetimeSeconds: answer.readUInt32BE(12) };
}

export function encodePmpAddress(): Buffer {
  return Buffer.from([0, 0]);
}

/** Reads the router's outside address. @throws as `decodePcpMap` */
export function decodePmpAddress(answer: Buffer): string | undefined {
  if (answer.length < 12 || answer[0] !== 0 || answer[1] !== 128) return undefined;
  const result = answer.readUInt16BE(2);
  if (result !== 0) throw refused('NAT-PMP', result);
  return answer.subarray(8, 12).join('.');
}

/** Finds the router of the default route with the lowest metric. @param routes  text of `/proc/net/route` */
export function defaultGatewayOf(routes: string): string | undefined {
  const rows = routes.split('\n').map((line) => line.trim().split(/\s+/));
  const defaults = rows.filter(([, to, , , , , , mask]) => to === '00000000' && mask === '00000000');
  const [best] = defaults.sort((a, b) => Number(a[6]) - Number(b[6]));
  const gateway = best?.[2] ?? '';
  if (!/^[0-9A-F]{8}$/.test(gateway) || gateway === '00000000') return undefined;
  const host = Buffer.from(gateway, 'hex').reverse().join('.');
  return isIP(host) === 4 ? host : undefined;
}

function refused(by: string, result: number): KeibiError {
  return new KeibiError('PEER_UNREACHABLE', `The router refuses to map a port (${by}, result ${result}).`);
}

/** A router's port that leads to one of ours. */
export interface MappedPort {
  /** The protocol by which the router was asked. */
  readonly by: 'PCP' | 'NAT-PMP' | 'UPnP';
  /** The router's outside address, as it reports it. */
  readonly host: string;
  readonly port: number;
  readonly lifetimeSeconds: number;
}
