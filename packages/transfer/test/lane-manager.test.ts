// SPDX-License-Identifier: MPL-2.0

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LaneKeys, Listener, RateBudget, ReceiveJob, SendJob } from '@keibidrop/native';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneManager, type LanePath } from '../src/lane-manager.ts';

const MIB = 2 ** 20;
const HOST = '127.0.0.1';

/** A transfer of one file between real jobs; the test passes the messages of the control connection by hand. */
class Transfer {
  readonly listener = Listener.open({ host: HOST, port: 0, onConnection() {} });
  readonly sender: SendJob;
  readonly receiver: ReceiveJob;
  readonly keeper: LaneManager;
  /** Resolves when the file is complete; rejects when the transfer cannot continue. */
  readonly done: Promise<void>;
  #settle: { resolve(): void; reject(reason: unknown): void } = { resolve() {}, reject() {} };

  constructor(path: string, out: string, firstPath: LanePath, count: number) {
    const keys: LaneKeys = { sessionId: randomBytes(16), laneSecret: randomBytes(32), suite: 'aes-256-gcm' };
    const budget = new RateBudget(60 * MIB);
    this.sender = new SendJob({ roots: [{ path, name: 'sent' }], budget, onWake: () => void this.#carry() });
    const collisions = 'rename' as const;
    const onWake = () => void this.#carry();
    this.receiver = new ReceiveJob({ out, collisions, toStdout: false, reportPlaced: true, durable: false, onWake });
    this.sender.expectLanes(this.listener, keys);
    this.done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.keeper = new LaneManager({
      job: this.receiver,
      plan: { keys: { ...keys, laneSecret: keys.laneSecret.slice() }, count, path: async () => firstPath },
      write: (body) => {
        if (body?.$case === 'laneClosed')
          this.sender.closeLane(body.value.taken?.lane ?? 0, body.value.taken?.frames ?? 0);
        if (body?.$case === 'laneRetired') this.sender.retireLane(body.value.lane);
      },
      onFailed: (reason) => this.#settle.reject(reason),
    });
  }

  async begin(): Promise<void> {
    await this.receiver.open();
    await this.keeper.open();
    this.sender.start();
  }

  /** Resolves once that many bytes have been received. */
  async reaches(bytes: number): Promise<void> {
    while (this.receiver.progress().bytes < bytes) await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    this.keeper.close();
    await Promise.all([this.sender.close(), this.receiver.close()]);
    await this.listener.close();
  }

  async #carry(): Promise<void> {
    const { pages, walked, lanesEnded, lanesMoved } = this.sender.takeNews();
    for (const page of pages) {
      const { wanted, partials } = await this.receiver.plan(page);
      this.sender.answer(page.first, page.count, wanted, partials);
    }
    if (walked) this.receiver.endOfPages();
    for (const { lane, code } of lanesEnded) if (code !== '') this.keeper.broken(lane);
    for (const lane of lanesMoved) this.keeper.moved(lane);
    const news = this.receiver.takeNews();
    if (news.complete) this.#settle.resolve();
    try {
      this.keeper.take(news.lanesEnded);
    } catch (reason) {
      this.#settle.reject(reason);
    }
  }
}

function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  return new Promise((resolve, reject) => {
    const file = createReadStream(path).on('data', (bytes) => hash.update(bytes));
    file.on('end', () => resolve(hash.digest('hex'))).on('error', reject);
  });
}

describe('LaneManager', () => {
  let folder: string;
  let source: string;
  let transfer: Transfer | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keibi-lanes-'));
    source = join(folder, 'source');
    writeFileSync(source, randomBytes(48 * MIB + 5));
  });
  afterEach(async () => {
    await transfer?.close();
    rmSync(folder, { recursive: true });
  });

  async function expectEqual(): Promise<void> {
    expect(await digestOf(join(folder, 'out', 'sent'))).toBe(await digestOf(source));
  }

  it('moves all lanes of a relayed transfer to a direct path', async () => {
    const relay = Listener.open({ host: HOST, port: 0, onConnection() {} });
    relay.serveRelay({
      pairs: 8,
      waiting: 8,
      perAddress: 16,
      waitMs: 10_000,
      idleMs: 60_000,
      lifetimeMs: 60_000,
      bytesPerSecond: 0,
    });
    const way = async (lane: number) => {
      const relayToken = Buffer.alloc(32, lane + 1);
      const place = { host: HOST, port: relay.port, token: relayToken, waitMs: 10_000 };
      transfer?.listener.joinRelay(place).catch(() => {});
      return { relayToken };
    };
    transfer = new Transfer(source, join(folder, 'out'), { host: HOST, port: relay.port, way }, 3);
    await transfer.begin();
    await transfer.reaches(8 * MIB);
    expect(relay.relayStats().pairs).toBe(3);
    await transfer.keeper.moveTo({ host: HOST, port: transfer.listener.port });
    await transfer.reaches(40 * MIB);
    expect(relay.relayStats().pairs).toBe(0);
    const lanes = transfer.receiver.lanes().map(({ lane }) => lane);
    expect(lanes.sort()).toEqual([253, 254, 255]); // dialled in parallel, so in any order
    await transfer.done;
    await expectEqual();
    await relay.close();
  });

  it('keeps its lanes if the other address does not answer', async () => {
    const taken = Listener.open({ host: HOST, port: 0, onConnection() {} });
    const { port } = taken;
    await taken.close();
    const first: LanePath = { host: HOST, port: 0 };
    transfer = new Transfer(source, join(folder, 'out'), first, 2);
    first.port = transfer.listener.port;
    await transfer.begin();
    await transfer.reaches(4 * MIB);
    await expect(transfer.keeper.moveTo({ host: HOST, port })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
    await transfer.done;
    await expectEqual();
  });

  it.each([
    ['sends nothing', ''],
    ['sends other bytes', 'SSH-2.0-stranger, with more bytes than a frame has in front\r\n'.repeat(4)],
  ])(
    'keeps its lanes if a stranger at the other address accepts them and %s',
    async (_, greeting) => {
      const stranger = createServer((socket) =>
        socket
          .on('error', () => {})
          .resume()
          .write(greeting),
      );
      await once(stranger.listen(0, HOST), 'listening');
      const first: LanePath = { host: HOST, port: 0 };
      transfer = new Transfer(source, join(folder, 'out'), first, 2);
      first.port = transfer.listener.port;
      await transfer.begin();
      await transfer.reaches(4 * MIB);
      const { port } = stranger.address() as AddressInfo;
      await expect(transfer.keeper.moveTo({ host: HOST, port })).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
      await transfer.done;
      await expectEqual();
      stranger.close();
    },
    20_000,
  );

  it('fails when its lanes are cut and cannot be replaced', async () => {
    const first: LanePath = { host: HOST, port: 0 };
    transfer = new Transfer(source, join(folder, 'out'), first, 1);
    first.port = transfer.listener.port;
    await transfer.begin();
    await transfer.reaches(4 * MIB);
    first.port = 1;
    transfer.receiver.cutLane(0);
    await expect(transfer.done).rejects.toMatchObject({ code: 'SESSION_LOST' });
  });
});
