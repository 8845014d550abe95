// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { freePort } from '../../bench/free-port.mjs';
import type { Running } from './running.ts';
import type { Sandbox } from './sandbox.ts';

export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

/** A real Redis on loopback, without storage on disk. */
export class Redis {
  readonly port: number;
  readonly #room: Sandbox;
  #server: Running;

  static async start(room: Sandbox): Promise<Redis> {
    const port = await freePort();
    return new Redis(room, port, await serve(room, port));
  }

  private constructor(room: Sandbox, port: number, server: Running) {
    this.#room = room;
    this.port = port;
    this.#server = server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async kill(): Promise<void> {
    this.#server.kill();
    await this.#server.ended;
  }

  /** Starts an empty server at the same port, after `kill`. */
  async restart(): Promise<void> {
    this.#server = await serve(this.#room, this.port);
  }

  /** Sends one command and returns its raw reply. */
  async ask(command: string): Promise<string> {
    const socket = await this.#dial(command);
    try {
      const [answer] = await once(socket, 'data');
      return String(answer);
    } finally {
      socket.destroy();
    }
  }

  /** Records every command that Redis gets from now on. */
  async monitor(): Promise<{ text(): string; close(): void }> {
    const socket = await this.#dial('MONITOR');
    const [greeting] = await once(socket, 'data');
    let text = String(greeting);
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more;
    });
    return { text: () => text, close: () => socket.destroy() };
  }

  async #dial(command: string): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.write(`${command}\r\n`);
    return socket;
  }
}

async function serve(room: Sandbox, port: number): Promise<Running> {
  const options = { port, bind: '127.0.0.1', save: '', appendonly: 'no', daemonize: 'no', dir: room.home };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = await room.start(args, { command: ['redis-server'] });
  await server.shows(/Ready to accept connections/);
  return server;
}
