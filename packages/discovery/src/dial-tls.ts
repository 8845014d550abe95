// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { isIP, type Socket } from 'node:net';
import { connect, rootCertificates, type TLSSocket } from 'node:tls';
import { KeibiError } from '@keibidrop/protocol';
import { formatHostPort, type HostPort } from './host-port.ts';

/** From the connection to the end of the handshake. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Where systems keep the authorities they trust: Debian, Fedora, Alpine and macOS. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
] as const;

/** What to do about a certificate that is not believed, by Node's code. */
const ADVICE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Its certificate has expired: whoever runs it has to renew it. Check this computer’s clock, too.',
  CERT_NOT_YET_VALID: 'Its certificate is not valid yet. Check the clocks of both computers.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Its certificate is for another name. Use the name that it was made for.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Its certificate is its own. Name its authority with NODE_EXTRA_CA_CERTS=FILE.',
  SELF_SIGNED_CERT_IN_CHAIN: 'Its authority is not known here. Name it with NODE_EXTRA_CA_CERTS=FILE.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'Its authority is not known here. Name it with NODE_EXTRA_CA_CERTS=FILE.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'Its authority is not known here, or it does not send the certificates between. Name the authority with NODE_EXTRA_CA_CERTS=FILE.',
};
const NO_TLS = 'It does not speak TLS there. Name it as HOST:PORT, without https://.';

/**
 * Makes a TLS connection of one to a rendezvous, whose certificate must be for `place` and by an authority of the system or of NODE_EXTRA_CA_CERTS.
 *
 * @param connection  owned from now on
 * @throws            RENDEZVOUS_UNREACHABLE saying what to do; `signal.reason` on abort
 */
export async function tlsOver(connection: Socket, place: HostPort, signal: AbortSignal): Promise<TLSSocket> {
  const ca = await authorities();
  const servername = isIP(place.host) === 0 ? place.host : '';
  const secure = connect({ socket: connection, host: place.host, servername, ca, ALPNProtocols: ['h2'] });
  const deadline = AbortSignal.timeout(HANDSHAKE_TIMEOUT_MS);
  try {
    await secured(secure, AbortSignal.any([signal, deadline]));
    return secure;
  } catch (cause) {
    secure.on('error', () => {}).destroy();
    signal.throwIfAborted();
    const { code = '' } = cause as NodeJS.ErrnoException;
    const text = `The rendezvous ${formatHostPort(place)} is not trusted or not there. ${ADVICE[code] ?? NO_TLS}`;
    throw new KeibiError('RENDEZVOUS_UNREACHABLE', text, { cause });
  }
}

function secured(secure: TLSSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      signal.removeEventListener('abort', onAbort);
      secure.off('secureConnect', onSecure).off('error', onError).off('close', onClose);
      outcome();
    };
    const onSecure = () => settle(resolve);
    const onError = (reason: Error) => settle(() => reject(reason));
    const onClose = () => settle(() => reject(new Error('the connection was closed')));
    const onAbort = () => settle(() => reject(signal.reason));
    secure.on('secureConnect', onSecure).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

let known: Promise<string[]> | undefined;

/** The system's authorities, or Node's own where it has no file of them, and those of NODE_EXTRA_CA_CERTS. */
function authorities(): Promise<string[]> {
  known ??= (async () => {
    const { SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = process.env;
    const files = SSL_CERT_FILE ? [SSL_CERT_FILE] : SYSTEM_BUNDLES;
    const bundles = await Promise.all(files.map(tryRead));
    const system = bundles.find((bundle) => bundle !== undefined);
    const extra = NODE_EXTRA_CA_CERTS ? await tryRead(NODE_EXTRA_CA_CERTS) : undefined;
    return [...(system === undefined ? rootCertificates : [system]), ...(extra === undefined ? [] : [extra])];
  })();
  return known;
}

function tryRead(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
