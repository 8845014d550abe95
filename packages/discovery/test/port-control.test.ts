// SPDX-License-Identifier: MPL-2.0
import { describe, expect, it } from 'vitest';
import {
  decodePcpMap,
  decodePmpAddress,
  decodePmpMap,
  defaultGatewayOf,
  encodePcpMap,
  encodePmpAddress,
  encodePmpMap,
} from '../src/router/port-control.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const NONCE = hex('4f1fb26be4dc3c2355ab3af1');
// Recorded from miniupnpd 2.3.1.
const PCP_ANSWER = hex(
  '02 81 00 00 00000078 00006a25 000000000000000000000000 4f1fb26be4dc3c2355ab3af1 06 000000 6740 6740 00000000000000000000ffff cb00720a',
);
const PMP_ANSWER = hex('00 82 0000 00006a25 673f 6740 00000078');
const PMP_ADDRESS = hex('00 80 0000 00006a25 cb00720a');

describe('asking a router for a port', () => {
  it('encodes requests as RFC 6887 11.1 and RFC 6886 3.3 draw them', () => {
    const request = { port: 26432, outside: 26433, lifetimeSeconds: 120 };
    expect(encodePcpMap(request, '192.168.10.2', NONCE).toString('hex')).toBe(
      '020100000000007800000000000000000000ffffc0a80a024f1fb26be4dc3c2355ab3af1060000006740674100000000000000000000ffff00000000',
    );
    expect(encodePmpMap(request).toString('hex')).toBe('000200006740674100000078');
    expect(encodePmpAddress().toString('hex')).toBe('0000');
  });

  it('reads the outside port and address from the answer', () => {
    expect(decodePcpMap(PCP_ANSWER, 26432, NONCE)).toEqual({
      host: '203.0.114.10',
      outside: 26432,
      lifetimeSeconds: 120,
    });
    expect(decodePmpMap(PMP_ANSWER, 26431)).toEqual({ outside: 26432, lifetimeSeconds: 120 });
    expect(decodePmpAddress(PMP_ADDRESS)).toBe('203.0.114.10');
  });

  it('detects a router that supports only NAT-PMP, in both forms of its answer', () => {
    expect(decodePcpMap(hex('00 81 0001 00006a25'), 26432, NONCE)).toBe('older');
    expect(decodePcpMap(hex('02 81 00 01 00000000'), 26432, NONCE)).toBe('older');
  });

  it('throws when the router refuses', () => {
    const refusal = Buffer.from(PCP_ANSWER).fill(8, 3, 4);
    expect(() => decodePcpMap(refusal, 26432, NONCE)).toThrow(/refuses.*PCP, result 8/);
    expect(() => decodePmpMap(hex('00 82 0003 00006a25 673f 6740 00000078'), 26431)).toThrow(/NAT-PMP, result 3/);
    expect(() => decodePmpAddress(hex('00 80 0003 00006a25 00000000'))).toThrow(/NAT-PMP/);
  });

  it.each([
    ['nothing', hex('')],
    ['a request', encodePcpMap({ port: 26432, outside: 1, lifetimeSeconds: 1 }, '192.168.10.2', NONCE)],
    ['half an answer', PCP_ANSWER.subarray(0, 59)],
    ['the answer to another nonce', Buffer.from(PCP_ANSWER).fill(0, 24, 25)],
    ['the answer for another port', Buffer.from(PCP_ANSWER).fill(0, 40, 41)],
  ])('passes over %s', (_, packet) => {
    expect(decodePcpMap(packet, 26432, NONCE)).toBeUndefined();
    expect(decodePmpMap(packet, 26432)).toBeUndefined();
    expect(decodePmpAddress(packet)).toBeUndefined();
  });
});

describe('the default gateway', () => {
  const head = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
  const route = (to: string, gateway: string, metric: number, mask: string) =>
    `eth0\t${to}\t${gateway}\t0003\t0\t0\t${metric}\t${mask}\t0\t0\t0   \n`;

  it('is the router of the best default route', () => {
    const lan = route('000AA8C0', '00000000', 0, '00FFFFFF');
    const far = route('00000000', '0114A8C0', 600, '00000000');
    const near = route('00000000', '010AA8C0', 100, '00000000');
    expect(defaultGatewayOf(head + lan + far + near)).toBe('192.168.10.1');
  });

  it.each([
    ['', head, head + route('00000000', '00000000', 0, '00000000'), head + route('00000000', 'x', 0, '00000000')],
  ])('may be none', (...tables) => {
    for (const table of tables) expect(defaultGatewayOf(table)).toBeUndefined();
  });
});
