// SPDX-License-Identifier: MPL-2.0
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { run, type Sandbox } from './sandbox.ts';

export const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

/** A certificate authority for one test, made with openssl. */
export class Authority {
  /** PEM, for NODE_EXTRA_CA_CERTS. */
  readonly file: string;
  readonly #room: Sandbox;
  readonly #name: string;

  constructor(room: Sandbox, name = 'authority') {
    this.#room = room;
    this.#name = name;
    this.file = room.path(`${name}.pem`);
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', room.path(`${name}.key`)];
    run('openssl', 'req', '-x509', ...key, '-subj', `/CN=${name}`, '-days', '2', '-out', this.file);
  }

  /** Writes NAME.pem and NAME.key for the server `host`. A negative `days` makes an expired certificate. */
  async issue(name: string, host: string, days = 1): Promise<{ cert: string; key: string }> {
    const room = this.#room;
    const [cert, key, request, extensions] = ['pem', 'key', 'csr', 'ext'].map((end) => room.path(`${name}.${end}`)) as [
      string,
      string,
      string,
      string,
    ];
    await writeFile(extensions, `subjectAltName=DNS:${host}\n`);
    const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key];
    run('openssl', 'req', ...made, '-subj', `/CN=${host}`, '-out', request);
    const by = [
      '-CA',
      this.file,
      '-CAkey',
      room.path(`${this.#name}.key`),
      '-set_serial',
      `${process.hrtime.bigint()}`,
    ];
    run('openssl', 'x509', '-req', '-in', request, ...by, '-days', `${days}`, '-extfile', extensions, '-out', cert);
    return { cert, key };
  }
}
