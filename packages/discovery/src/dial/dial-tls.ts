// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { isIP, type Socket } from 'node:net';
import { connect, rootCertificates, type TLSSocket } from 'node:tls';
import { KeibiError } from '@keibidrop/protocol';
import { formatHostPort, type HostPort } from '../host-port.ts';

/** From the TCP connection to the end of the TLS handshake. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Where systems keep their trusted certificate authorities: Debian, Fedora, Alpine and macOS. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
] as const;

/** Advice for an untrusted certificate, by Node's error code. */
const ADVICE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Its certificate has expired: its operator has to renew it. Check this computer’s clock, too.',
  CERT_NOT_YET_VALID: 'Its certificate is not valid yet. Check the clocks of both computers.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Its certificate is for another name. Use the name in the certificate.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Its certificate is self-signed. Add it as an authority with NODE_EXTRA_CA_CERTS=FILE.',
  SELF_SIGNED_CERT_IN_CHAIN: 'Its certificate authority is not trusted here. Add it with NODE_EXTRA_CA_CERTS=FILE.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'Its certificate authority is not trusted here. Add it with NODE_EXTRA_CA_CERTS=FILE.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'Its certificate authority is not trusted here, or it does not send the intermediate certificates. Add the authority with NODE_EXTRA_CA_CERTS=FILE.',
};
const NO_TLS = 'It does not use TLS. Write it as HOST:PORT, without https://.';

/**
 * Starts TLS on a connection to a rendezvous. The certificate must name `place` and be signed by an authority of the system or of
 * NODE_EXTRA_CA_CERTS.
 *
 * @param connection  owned by this function from now on
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
    const text = `The rendezvous ${formatHostPort(place)} cannot be reached securely. ${ADVICE[code] ?? NO_TLS}`;
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

/** The system's authorities, or Node's own if there is no such file, plus those of NODE_EXTRA_CA_CERTS. */
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
