// SPDX-License-Identifier: MPL-2.0
import { setMaxListeners } from 'node:events';
import {
  findDaemon,
  type LocalClient,
  type ReceiveRequest,
  type SendRequest,
  type TransferView,
} from '../../packages/daemon/src/index.ts';
import type { EventView } from '../../packages/daemon/src/local.ts';
import type { Running } from '../harness/running.ts';
import type { Sandbox, StartOptions } from '../harness/sandbox.ts';

/** One event as clients of the daemon get it. */
export interface Heard {
  transfer: number;
  event: string;
  [field: string]: unknown;
}

/** An event with all its fields side by side; the state of a transfer is called `transfer`. */
export function heardOf({ transfer, contact, receiver, happened }: EventView): Heard {
  if (happened === undefined) throw new Error('An event without a kind.');
  const { $case: kind, value } = happened;
  const of = { transfer, ...(contact !== undefined && { contact }), ...(receiver !== undefined && { receiver }) };
  if (kind === 'question') {
    return { ...of, event: kind, question: value.question, kind: value.about?.$case, ...value.about?.value };
  }
  if (kind === 'receiverDone') return { ...of, event: kind, ...value, ...value.counts };
  if (kind === 'presence' || kind === 'renewed') return { ...of, event: kind, contact: value.name, ...value };
  return { ...of, ...value, event: kind === 'changed' ? 'transfer' : kind };
}

/** A daemon started by a test, with its own configuration directory. */
export class OwnDaemon {
  readonly sandbox: Sandbox;
  /** Name of the configuration directory in the sandbox. */
  readonly name: string;
  running: Running;
  readonly #over = new AbortController();
  #own: LocalClient | undefined;
  readonly #options: StartOptions;
  readonly #socket: string;

  static async start(sandbox: Sandbox, name: string, options: StartOptions = {}): Promise<OwnDaemon> {
    const running = await sandbox.start(['daemon', '--json', '--config', name], options);
    const { socket } = await running.until('listening');
    return new OwnDaemon(sandbox, name, options, running, socket as string);
  }

  private constructor(sandbox: Sandbox, name: string, options: StartOptions, running: Running, socket: string) {
    this.sandbox = sandbox;
    this.name = name;
    this.running = running;
    this.#options = options;
    this.#socket = socket;
    // Allows hundreds of concurrent calls.
    setMaxListeners(0, this.#over.signal);
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get socket(): string {
    return this.#socket;
  }

  get #asUser(): StartOptions {
    return this.#options.uid === undefined ? {} : { uid: this.#options.uid };
  }

  /** Runs `keibidrop ARGS --json` as the daemon's user, to its end. */
  async command(...args: string[]): Promise<{ exit: unknown; event: Record<string, unknown> }> {
    const running = await this.sandbox.start([...args, '--json', '--config', this.name], this.#asUser);
    const exit = await running.ended;
    return { exit, event: running.events().at(-1) ?? { event: 'nothing', stderr: running.stderr } };
  }

  /** Runs the same with --background. */
  async order(...args: string[]): Promise<TransferView> {
    const { event } = await this.command(...args, '--background');
    return event as unknown as TransferView;
  }

  /** The text output of `keibidrop ARGS`. */
  async said(...args: string[]): Promise<string> {
    const running = await this.sandbox.start([...args, '--config', this.name], this.#asUser);
    await running.ended;
    return running.stdout;
  }

  /** Connects one more client, in this process. */
  client(): Promise<LocalClient> {
    const { home } = this.sandbox;
    const env = { XDG_RUNTIME_DIR: this.sandbox.path(`run-${this.#options.uid ?? process.getuid?.()}`) };
    return findDaemon({ env, cwd: home, config: this.name, signal: this.signal });
  }

  /** The shared connection for calls. */
  async own(): Promise<LocalClient> {
    this.#own ??= await this.client();
    return this.#own;
  }

  async control(transfer: number, action: string): Promise<TransferView | undefined> {
    return (await (await this.own()).call('control', { transfer, action }, { signal: this.signal })).transfer;
  }

  /** Starts a send in this daemon, on a port of the loopback interface. */
  async send(request: Partial<SendRequest>): Promise<{ id: number; code: string }> {
    const client = await this.own();
    const { transfer } = await client.call('send', { listen: '127.0.0.1:0', ...request }, { signal: this.signal });
    const id = transfer?.id ?? 0;
    const { code } = await this.until((event) => event.transfer === id && typeof event.code === 'string');
    return { id, code: code as string };
  }

  async receive(request: Partial<ReceiveRequest>): Promise<number> {
    const client = await this.own();
    return (await client.call('receive', request, { signal: this.signal })).transfer?.id ?? 0;
  }

  /** Adds `other` as a contact named `name`. */
  async know(name: string, other: OwnDaemon): Promise<void> {
    const { fingerprint } = await (await other.own()).call('identity', {}, { signal: other.signal });
    await (await this.own()).call('addContact', { name, fingerprint }, { signal: this.signal });
  }

  /** The first event of a new client for which `found` holds. */
  async until(found: (event: Heard) => boolean, client?: LocalClient): Promise<Heard> {
    const listening = client ?? (await this.own());
    for await (const reported of listening.stream('watch', { progress: true }, { signal: this.signal })) {
      const event = heardOf(reported);
      if (found(event)) return event;
    }
    throw new Error('The daemon has ended.');
  }

  /** The event with which the transfer reaches that state. */
  state(id: number, state: string): Promise<Heard> {
    return this.until((event) => event.transfer === id && event.event === 'transfer' && event.state === state);
  }

  /** Kills the daemon and starts it again with the same options. */
  async replace(): Promise<void> {
    this.running.kill();
    await this.startAgain();
  }

  /** Starts the daemon again once it has ended. */
  async startAgain(): Promise<void> {
    await this.running.ended;
    const { running } = await OwnDaemon.start(this.sandbox, this.name, this.#options);
    this.running = running;
    this.#own?.close();
    this.#own = undefined;
  }
}
