import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type Credentials, closing, freshDirectory, prepare } from './binary.ts';

/** The prepared data directory that the tests of a file copy. Preparing one takes as long as starting a server. */
let template: Promise<{ readonly data: string; readonly credentials: Credentials }> | undefined;

async function prepareTemplate() {
  closing(async () => {
    template = undefined;
  });
  const data = join(freshDirectory(), 'data');
  return { data, credentials: await prepare(data) };
}

/**
 * Creates a prepared data directory, as `prepare` does. The directories of a test file have the same credentials, ids
 * and signing key.
 */
export async function copyPrepared(data: string): Promise<Credentials> {
  template ??= prepareTemplate();
  const { data: from, credentials } = await template;
  cpSync(from, data, { recursive: true });
  return credentials;
}
