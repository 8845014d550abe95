// SPDX-License-Identifier: MPL-2.0

// Listens to multicast DNS at the IPv4 address given as its argument. Prints `goodbye` when a sender withdraws its
// announcement: a response whose first record, `_keibidrop._tcp.local PTR`, has a TTL of 0 (RFC 6762 10.1). Shares no
// code with the program under test.
import { createSocket } from 'node:dgram';

const HEADER_BYTES = 12;
const NAME = Buffer.from('\x0a_keibidrop\x04_tcp\x05local\0', 'latin1');
const TTL_AT = HEADER_BYTES + NAME.length + 4;

const socket = createSocket({ type: 'udp4', reuseAddr: true });
socket.on('message', (packet) => {
  const isOurs = packet.length >= TTL_AT + 4 && packet.subarray(HEADER_BYTES).indexOf(NAME) === 0;
  if (isOurs && (packet[2] & 0x80) !== 0 && packet.readUInt32BE(TTL_AT) === 0) console.log('goodbye');
});
socket.bind(5353, () => {
  socket.addMembership('224.0.0.251', process.argv[2]);
  console.log('listening');
});
