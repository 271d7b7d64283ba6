import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { permissionDenied, readTextFile } from '../runtime/files.ts';
import type { HttpEngine, Listener, ListenOptions, TlsFiles } from './types.ts';

/**
 * Cipher suites of every TLS listener: authenticated encryption with forward secrecy. The list includes the TLS 1.3
 * suites, because Node would otherwise disable TLS 1.3.
 */
export const cipherSuites = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** A certificate chain and its private key, both in PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads a certificate and its key.
 * @throws {Error} if a file is not readable or usable, or if the key is not the certificate's key. The message has the
 * name of the file and the remedy, but no content of the files.
 */
export function readTls({ certFile, keyFile }: TlsFiles): TlsPair {
  const cert = readPem('certificate', certFile);
  const key = readPem('key', keyFile);
  const certificate = parse(certFile, 'certificate', () => new X509Certificate(cert));
  const privateKey: KeyObject = parse(keyFile, 'key', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    const must = 'set --tls-cert and --tls-key to a matching pair';
    throw new Error(`Cannot use the key ${keyFile}: it does not match the certificate ${certFile}; ${must}`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    throw new Error(`Cannot use the certificate ${certFile} with the key ${keyFile}: ${why}`);
  }
  return { cert, key };
}

/** @throws {Error} if a certificate has expired or is not valid yet; the message has the file and the remedy */
export function checkTlsTime({ cert }: TlsPair, { certFile }: TlsFiles, now: number): void {
  const { validFrom, validTo } = new X509Certificate(cert);
  const from = Date.parse(validFrom);
  const to = Date.parse(validTo);
  const shown = (time: number) => new Date(time).toISOString();
  if (now > to) throw new Error(`Cannot use the certificate ${certFile}: it expired at ${shown(to)}; renew it`);
  if (now < from) {
    const must = "use a certificate that is valid now, or correct the machine's clock";
    throw new Error(`Cannot use the certificate ${certFile}: it is not valid before ${shown(from)}; ${must}`);
  }
}

export function readExpiry({ cert }: TlsPair): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

/** Returns the hosts for which a certificate is not valid. */
export function hostsWithout({ cert }: TlsPair, hosts: readonly string[]): string[] {
  const certificate = new X509Certificate(cert);
  const has = (host: string) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host));
  return hosts.filter((host) => has(host) === undefined);
}

type What = 'certificate' | 'key';

const wanted: Readonly<Record<What, string>> = {
  certificate: 'a certificate chain in PEM, which begins with -----BEGIN CERTIFICATE-----',
  key: 'a private key in PEM without a passphrase, which begins with -----BEGIN PRIVATE KEY----- or the like',
};
const optionNames: Readonly<Record<What, string>> = { certificate: '--tls-cert', key: '--tls-key' };

function readPem(what: What, file: string): string {
  try {
    return readTextFile(file);
  } catch (error) {
    const must = `${optionNames[what]} must name a file that this user can read`;
    const shown = mayBeTheSecret(what, file, error) ? '' : ` ${file}`;
    throw new Error(`Cannot read the ${what}${shown}: ${describeReason(error, file)}; ${must}`);
  }
}

/** Parses a file. Omits the parser's own message, which could quote the file. */
function parse<T>(file: string, what: What, read: () => T): T {
  try {
    return read();
  } catch {
    throw new Error(`Cannot use the ${what} ${file}: ${optionNames[what]} must name ${wanted[what]}`);
  }
}

/** True if the given file name could be the secret itself, passed by mistake. */
function mayBeTheSecret(what: What, file: string, error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return !['EACCES', 'EISDIR'].includes(code) && (what === 'key' || file.includes('\n'));
}

/** Returns the reason of a failure, without the system's message, which quotes the path. */
function describeReason(error: unknown, file: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'file not found (ENOENT)';
  if (code === 'EACCES') return permissionDenied(file);
  return code === undefined ? 'not readable' : `not readable (${code})`;
}

/** A TLS listener or client that can reload its files while running. */
export interface Renewable {
  /** Prepares to use the current files. @throws {Error} if the files are not usable; then nothing changes */
  reopen(): Promise<Renewal>;
}

export interface Renewal {
  /** Uses the new files for all new connections. Closes earlier connections as `Listener.close` does. */
  finish(graceMs: number): Promise<void>;
  undo(): Promise<void>;
}

export interface RenewableListener extends Listener, Renewable {}

export async function listenRenewably(engine: HttpEngine, options: ListenOptions): Promise<RenewableListener> {
  let current = await engine.listen(options);
  const { host, port } = current;
  return {
    host,
    port,
    /** Until the renewal ends, both the old and the new listener get connections. */
    async reopen() {
      const next = await engine.listen({ ...options, port, joins: true });
      return {
        async finish(graceMs) {
          const before = current;
          current = next;
          await before.close(graceMs);
        },
        undo: () => next.close(0),
      };
    },
    close: (graceMs) => current.close(graceMs),
  };
}

/**
 * Prepares all listeners and clients to use renewed files. If one of them fails, all keep the earlier files.
 * @throws {Error} the first error of a listener or client
 */
export async function reopenAll(all: readonly Renewable[]): Promise<Renewal> {
  const results = await Promise.allSettled(all.map((each) => each.reopen()));
  const renewals = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const renewal: Renewal = {
    async finish(graceMs) {
      await Promise.all(renewals.map((each) => each.finish(graceMs)));
    },
    async undo() {
      await Promise.all(renewals.map((each) => each.undo()));
    },
  };
  const failed = results.find((each) => each.status === 'rejected');
  if (failed === undefined) return renewal;
  await renewal.undo();
  throw failed.reason;
}
