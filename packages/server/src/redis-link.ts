// SPDX-License-Identifier: MPL-2.0
import { KeibiError } from '@keibidrop/protocol';
import { createClient } from '@redis/client';

/** A mailbox of a dead server expires after this; a live server renews it three times within it. */
export const MAILBOX_TTL_MS = 30_000;
/** Mailboxes per call; Redis serves no other client during a call. */
const RENEWED_AT_ONCE = 500;
const CONNECT_TIMEOUT_MS = 5000;
/** A silent Redis gets a ping at this interval, and is given up after SILENCE_MS. */
const PING_MS = 2000;
const SILENCE_MS = 5000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

const CHANNEL = 'keibidrop:server:';
const keyOf = (mailbox: string) => `keibidrop:mailbox:${mailbox}`;

/** Holder of a mailbox: the owner's server, and the owner's identifier. Both are lower hex. */
export interface Holder {
  readonly server: string;
  readonly owner: string;
}

/**
 * KEYS: a mailbox; ARGV: the new holder, its owner, the time to live, the prefix of channels.
 *
 * A different owner keeps the mailbox while its server listens. The same owner may move here; its former server is then notified.
 */
const TAKE = `
local held = redis.call('GET', KEYS[1])
local server, owner = (held or ''):match('^(%x+)%.(%x+)$')
if server and owner ~= ARGV[2] and redis.call('PUBSUB', 'NUMSUB', ARGV[4] .. server)[2] > 0 then return false end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return server or ''`;

/** KEYS: mailboxes; ARGV: the time to live, then the holder of each. Returns the numbers of those that have another holder. */
const RENEW = `
local lost = {}
for i, key in ipairs(KEYS) do
  local held = redis.call('GET', key)
  if held and held ~= ARGV[i + 1] then
    lost[#lost + 1] = i
  else
    redis.call('SET', key, ARGV[i + 1], 'PX', ARGV[1])
  end
end
return lost`;

/** KEYS: a mailbox; ARGV: its holder. */
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end`;

export interface RedisLinkOptions {
  /** `redis://` or `rediss://`, optionally with user, password and database. */
  url: string;
  /** Identifier of this server: 16 bytes as lower hex, never reused. */
  server: string;
}

export interface RedisEvents {
  onMessage(bytes: Buffer): void;
  /** Redis is connected again; its data may be gone. */
  onUp(): void;
  /** The connection to Redis is lost, and messages may be too. */
  onDown(reason: string): void;
}

/** The shared state in Redis: which server has which mailbox, and one channel per server. */
export class RedisLink {
  readonly #client: ReturnType<typeof clientOf>;
  /** Why Redis cannot be used at the moment; undefined if it can. */
  #trouble: string | undefined = 'not connected yet';
  #opened = false;
  #events: RedisEvents | undefined;

  private constructor(url: string) {
    this.#client = clientOf(url, () => this.#opened);
    this.#client.on('error', (error: Error) => this.#down(reasonOf(error)));
    this.#client.on('ready', () => this.#up());
  }

  /** @throws CONFIG_INVALID with the reason why Redis cannot be used; the text omits the password */
  static async open(options: RedisLinkOptions): Promise<RedisLink> {
    const place = placeOf(options.url);
    const link = new RedisLink(options.url);
    try {
      await link.#client.connect();
      await link.#client.subscribe(CHANNEL + options.server, (bytes) => link.#events?.onMessage(bytes), true);
    } catch (cause) {
      link.close();
      const message = `Redis at ${place} cannot be used (${reasonOf(cause)}). Check --redis, and that it runs.`;
      throw new KeibiError('CONFIG_INVALID', message, { cause });
    }
    link.#opened = true;
    return link;
  }

  /** Starts delivering events; earlier ones are dropped. */
  begin(events: RedisEvents): void {
    this.#events = events;
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Takes a mailbox. Returns its former server, or '' if it had none; false if another owner holds it. @throws RENDEZVOUS_UNREACHABLE */
  async take(mailbox: string, holder: Holder): Promise<string | false> {
    const args = [textOf(holder), holder.owner, `${MAILBOX_TTL_MS}`, CHANNEL];
    const before = await this.#ask(() => this.#client.eval(TAKE, { keys: [keyOf(mailbox)], arguments: args }));
    return typeof before === 'string' && before;
  }

  /** Extends mailboxes by MAILBOX_TTL_MS, or registers them again; returns those that another holder has taken. @throws RENDEZVOUS_UNREACHABLE */
  async renew(held: readonly (readonly [mailbox: string, holder: Holder])[]): Promise<string[]> {
    const lost: string[] = [];
    for (let first = 0; first < held.length; first += RENEWED_AT_ONCE) {
      const some = held.slice(first, first + RENEWED_AT_ONCE);
      const keys = some.map(([mailbox]) => keyOf(mailbox));
      const args = [`${MAILBOX_TTL_MS}`, ...some.map(([, holder]) => textOf(holder))];
      const numbers = (await this.#ask(() => this.#client.eval(RENEW, { keys, arguments: args }))) as number[];
      lost.push(...numbers.flatMap((number) => some[number - 1]?.[0] ?? []));
    }
    return lost;
  }

  /** Gives up a mailbox, unless it has another holder now. */
  async release(mailbox: string, holder: Holder): Promise<void> {
    const args = { keys: [keyOf(mailbox)], arguments: [textOf(holder)] };
    // After an error the mailbox expires after MAILBOX_TTL_MS.
    await this.#ask(() => this.#client.eval(RELEASE, args)).catch(() => {});
  }

  /** @throws RENDEZVOUS_UNREACHABLE */
  async holderOf(mailbox: string): Promise<Holder | undefined> {
    const text = await this.#ask(() => this.#client.get(keyOf(mailbox)));
    const { server, owner } = /^(?<server>[0-9a-f]{32})\.(?<owner>[0-9a-f]{64})$/.exec(text ?? '')?.groups ?? {};
    return server === undefined || owner === undefined ? undefined : { server, owner };
  }

  /** Sends a message to another server; false if that server does not listen. @throws RENDEZVOUS_UNREACHABLE */
  async publish(server: string, bytes: Buffer): Promise<boolean> {
    return (await this.#ask(() => this.#client.publish(CHANNEL + server, bytes))) > 0;
  }

  close(): void {
    this.#events = undefined;
    this.#client.destroy();
  }

  async #ask<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await command();
    } catch (cause) {
      throw new KeibiError('RENDEZVOUS_UNREACHABLE', 'The rendezvous has lost its Redis. Try again.', { cause });
    }
  }

  #up(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#events?.onUp();
  }

  #down(reason: string): void {
    const was = this.#trouble;
    this.#trouble = reason;
    if (was === undefined) this.#events?.onDown(reason);
  }
}

/** @param patient  whether to reconnect after a lost connection; the first connection is tried once */
function clientOf(url: string, patient: () => boolean) {
  return createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: PING_MS,
    // RESP3 lets commands and the subscription share one connection, in order. It needs Redis 6 or later.
    RESP: 3,
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (retries) => patient() && Math.min(FIRST_PAUSE_MS * 2 ** retries, LONGEST_PAUSE_MS),
    },
  });
}

function textOf({ server, owner }: Holder): string {
  return `${server}.${owner}`;
}

/** A URL without user and password, for messages. */
function placeOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

function reasonOf(reason: unknown): string {
  const { code, message } = reason as NodeJS.ErrnoException;
  return code ?? message;
}
