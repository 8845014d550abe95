// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The sender of the bytes. The dialler is the receiver of files, the initiator. */
export type Direction = 'fromReceiver' | 'fromSender';
export type Kind = 'rendezvous' | 'control' | 'lane' | 'relay';

const KINDS: Record<string, Kind> = {
  'PRI * HT': 'rendezvous',
  'KEIBI-C1': 'control',
  'KEIBI-L1': 'lane',
  'KEIBI-R1': 'relay',
};
const PREAMBLE_BYTES = 8;

/** One connection through the proxy, recorded before any change. */
export interface Recorded {
  kind: Kind;
  /** Index among the connections of its kind, from 0. */
  index: number;
  fromReceiver: Buffer[];
  fromSender: Buffer[];
}

/** Maps one message or frame to itself, another one, several, or none; `end` closes the connection after it. */
export type Change = (unit: Buffer, number: number) => Buffer[] | { units: Buffer[]; end: true };

/** The place and the change of one attack. */
export interface Attack {
  kind: Kind;
  direction: Direction;
  change: Change;
}

/**
 * A man in the middle of every TCP connection: records all bytes, cuts them into messages and frames, and changes those
 * of the attack.
 */
export class ManInTheMiddle {
  readonly port: number;
  readonly recorded: Recorded[] = [];
  readonly #server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async open(target: number, attack?: Attack): Promise<ManInTheMiddle> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new ManInTheMiddle(server);
    server.on('connection', (client) => proxy.#carry(client, target, attack));
    return proxy;
  }

  /** All bytes on the wire. */
  get bytes(): Buffer {
    return Buffer.concat(this.recorded.flatMap(({ fromReceiver, fromSender }) => [...fromReceiver, ...fromSender]));
  }

  of(kind: Kind): Recorded[] {
    return this.recorded.filter((recorded) => recorded.kind === kind);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry(client: Socket, target: number, attack: Attack | undefined): void {
    const server = connect(target, '127.0.0.1');
    for (const socket of [client, server]) this.#sockets.add(socket.setNoDelay(true).on('error', () => {}));
    const recorded: Recorded = { kind: 'rendezvous', index: 0, fromReceiver: [], fromSender: [] };
    let preamble = Buffer.alloc(0);
    const begin = (bytes: Buffer) => {
      recorded.kind = KINDS[bytes.subarray(0, PREAMBLE_BYTES).toString('latin1')] ?? 'rendezvous';
      recorded.index = this.of(recorded.kind).length;
      this.recorded.push(recorded);
    };
    const up = new Cutter(
      (out) => server.write(out),
      () => server.end(),
    );
    const down = new Cutter(
      (out) => client.write(out),
      () => client.end(),
    );
    client.on('data', (bytes: Buffer) => {
      if (preamble.length < PREAMBLE_BYTES) {
        preamble = Buffer.concat([preamble, bytes]);
        if (preamble.length < PREAMBLE_BYTES) return;
        begin(preamble);
        const at = (direction: Direction) =>
          attack?.kind === recorded.kind && attack.direction === direction ? attack.change : undefined;
        up.begin(recorded.kind, true, at('fromReceiver'));
        down.begin(recorded.kind, false, at('fromSender'));
        bytes = preamble;
      }
      recorded.fromReceiver.push(bytes);
      up.take(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      recorded.fromSender.push(bytes);
      down.take(bytes);
    });
    client.on('end', () => server.end()).on('close', () => server.destroy());
    server.on('end', () => client.end()).on('close', () => client.destroy());
  }
}

/**
 * Cuts one direction into units: the preamble (for a lane with session and number), then length-prefixed units; HTTP/2
 * stays as it arrives.
 */
class Cutter {
  readonly #write: (bytes: Buffer) => void;
  readonly #end: () => void;
  #change: Change | undefined;
  #kind: Kind = 'rendezvous';
  #head = 0;
  #rest = Buffer.alloc(0);
  #number = 0;
  #ended = false;

  constructor(write: (bytes: Buffer) => void, end: () => void) {
    this.#write = write;
    this.#end = end;
  }

  begin(kind: Kind, dialler: boolean, change: Change | undefined): void {
    this.#kind = kind;
    this.#change = change;
    if (dialler && kind !== 'rendezvous') this.#head = kind === 'control' ? PREAMBLE_BYTES : PREAMBLE_BYTES + 20;
  }

  take(bytes: Buffer): void {
    if (this.#change === undefined) {
      this.#write(bytes);
      return;
    }
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let length = this.#next(); length !== undefined && !this.#ended; length = this.#next()) {
      const unit = Buffer.from(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
      const changed = this.#change(unit, this.#number++);
      for (const out of Array.isArray(changed) ? changed : changed.units) this.#write(out);
      if (!Array.isArray(changed)) {
        this.#ended = true;
        this.#end();
      }
    }
  }

  /** The length of the first unit if it is complete. */
  #next(): number | undefined {
    const { length } = this.#rest;
    if (length === 0) return undefined;
    if (this.#kind === 'rendezvous') return length;
    if (this.#number === 0 && this.#head > 0) return length >= this.#head ? this.#head : undefined;
    if (length < 4) return undefined;
    const whole = 4 + this.#rest.readUInt32BE(0);
    return length >= whole ? whole : undefined;
  }
}

/** Cuts a recorded direction of a control connection or lane into its units. */
export function unitsOf({ kind }: Recorded, direction: Direction, pieces: Buffer[]): Buffer[] {
  const units: Buffer[] = [];
  const cutter = new Cutter(
    () => {},
    () => {},
  );
  cutter.begin(kind, direction === 'fromReceiver', (unit) => {
    units.push(unit);
    return [];
  });
  for (const piece of pieces) cutter.take(piece);
  return units;
}
