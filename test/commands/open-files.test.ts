import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Config, warnOfOpenFiles } from '../../src/serve/config/config.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const names = [
  ['postgresFile', '--postgres-file'],
  ['tlsKey', '--tls-key'],
  ['otlpHeadersFile', '--otlp-headers-file'],
  ['backupS3Credentials', '--backup-s3-credentials'],
] as const;

function warnings(name: (typeof names)[number][0], mode: number) {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, 'hunter2');
  chmodSync(file, mode);
  const said: unknown[] = [];
  warnOfOpenFiles({ [name]: file } as unknown as Config, { warn: (...line) => void said.push(line) });
  return { file, said };
}

test.each(names)('the log warns if everyone can read the file of the setting %s', (name, setting) => {
  const { file, said } = warnings(name, 0o644);
  const fields = { setting, file, hint: `chmod o= ${file}` };
  expect(said).toEqual([['everyone on this machine can read a file with a secret', fields]]);
});

test.each([0o600, 0o640, 0o400])('the log does not warn of a secret file with mode %o', (mode) => {
  expect(warnings('postgresFile', mode).said).toEqual([]);
});

/** Returns the path of a link to itself. Looking it up fails even for root. */
function loop(): string {
  const link = join(temporaryDirectory(), 'link');
  symlinkSync(link, link);
  return link;
}

test.each([
  ['that does not exist', () => '/nowhere/file'],
  ['that cannot be looked up', loop],
])('the check of file modes ignores a file %s', (_, path) => {
  const said: unknown[] = [];
  const config = { postgresFile: path() } as unknown as Config;
  warnOfOpenFiles(config, { warn: (...line) => void said.push(line) });
  expect(said).toEqual([]);
});
