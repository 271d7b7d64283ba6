import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import { readTextFile } from '../../runtime/text-file.ts';
import { PostgresError } from './postgres-error.ts';
import type { PostgresTls } from './postgres-url.ts';

/** @throws {PostgresError} `refused` if a file cannot be read, or its content is wrong */
export function tlsOptions({
  mode,
  rootFile,
  certificateFile,
  keyFile,
}: PostgresTls): ConnectionOptions | false {
  if (mode === 'disable') return false;
  return {
    rejectUnauthorized: mode !== 'require',
    minVersion: 'TLSv1.2',
    ...(rootFile === undefined ? {} : { ca: readCertificates('sslrootcert', rootFile) }),
    ...(certificateFile === undefined || keyFile === undefined ? {} : readPair(certificateFile, keyFile)),
    // The difference between `verify-full` and `verify-ca`.
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function readPair(certificateFile: string, keyFile: string): { cert: string; key: string } {
  const cert = readCertificates('sslcert', certificateFile);
  const key = read('sslkey', keyFile);
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch {
    // Refused below.
  }
  const what = 'does not hold the key, in PEM form and without a passphrase, of the sslcert file';
  throw refused('sslkey', `${what}: ${keyFile}`);
}

/** Refuses a file without a certificate: it must not be ignored in favour of the default roots. */
function readCertificates(parameter: string, file: string): string {
  const text = read(parameter, file);
  if (/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(text)) return text;
  throw refused(parameter, `holds no certificate in PEM form: ${file}`);
}

function read(parameter: string, file: string): string {
  try {
    return readTextFile(file);
  } catch (error) {
    throw refused(parameter, `cannot be read: ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function refused(parameter: string, why: string): PostgresError {
  return new PostgresError('refused', `The ${parameter} file of the PostgreSQL URL ${why}`);
}
