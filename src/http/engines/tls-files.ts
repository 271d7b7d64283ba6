import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * Reads a certificate and its key, PEM both.
 * @throws {Error} when a file cannot be read or the two do not belong together; names the files, shows none of them
 */
export function readTls({ certFile, keyFile }: TlsFiles): { cert: string; key: string } {
  try {
    const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    createSecureContext(pair);
    return pair;
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`Cannot use the certificate ${certFile} with the key ${keyFile}: ${reason}`);
  }
}
