import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { EngineError } from './engine-error.ts';
import type { EngineTls } from './engine-url.ts';

/** @throws {EngineError} `refused` when a file cannot be read */
export function tlsOptions({
  mode,
  rootFile,
  certificateFile,
  keyFile,
}: EngineTls): ConnectionOptions | false {
  if (mode === 'disable') return false;
  return {
    rejectUnauthorized: mode !== 'require',
    minVersion: 'TLSv1.2',
    ...(rootFile === undefined ? {} : { ca: read('sslrootcert', rootFile) }),
    ...(certificateFile === undefined ? {} : { cert: read('sslcert', certificateFile) }),
    ...(keyFile === undefined ? {} : { key: read('sslkey', keyFile) }),
    // The name in the certificate is what `verify-full` has over `verify-ca`.
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function read(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new EngineError('refused', `The ${parameter} file of the engine cannot be read: ${file} (${code})`);
  }
}
