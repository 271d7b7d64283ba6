import { accessSync, constants, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { checkNoJournal, checkPrepared, isCopy } from '../accounts/prepare.ts';
import type { Terminal } from '../cli/terminal.ts';
import { checkTlsTime, readTls } from '../http/tls.ts';
import { checkIsCopy } from '../replication/accounts/join-postgres.ts';
import { readPostgresKey } from '../replication/postgres/postgres-key.ts';
import { authority, parseAddress } from '../runtime/address.ts';
import { systemClock } from '../runtime/clock.ts';
import { isDenied, isPresent, permissionDenied } from '../runtime/presence.ts';
import { type Config, loadConfig } from '../serve/config.ts';
import { assignHosts } from '../serve/listeners.ts';
import { readHeaders } from '../serve/otlp/headers.ts';
import { postgresAddress, withPostgres } from '../serve/postgres-connection.ts';
import { readProviderFile } from '../serve/provider-file.ts';
import { checkPublicUrls } from '../serve/public-urls.ts';
import { readBackupKey } from '../storage/backup/backup-key.ts';
import { readCredentials } from '../storage/backup/bucket-credentials.ts';
import { readCopyState } from '../storage/lmdb/copy-state.ts';
import { willHave } from '../storage/lmdb/create-atomically.ts';
import { cannotOpen, checkDataFiles, missingFile } from '../storage/lmdb/data-file.ts';
import { accountsLayout, checkLayouts, layouts } from '../storage/lmdb/layout.ts';
import { openLmdb } from '../storage/lmdb/lmdb.ts';
import { userOf } from '../storage/lmdb/lock.ts';

/** A check returns a note or nothing, and throws the fault. */
type Check = readonly [name: string, check: () => unknown];

/**
 * `serve --check`: checks the requirements of a start, lists all faults, and changes nothing.
 * @returns exit code: 0 when a start would succeed, 1 otherwise
 * @throws {UsageError} for wrong settings, on which the other checks depend
 */
export async function checkServe(argv: readonly string[], terminal: Terminal): Promise<number> {
  const config = loadConfig({ argv, env: terminal.env, readFile: terminal.readFile });
  terminal.out('ok       settings\n');
  let faults = 0;
  for (const [name, check] of checksOf(config, terminal)) {
    try {
      const note = await check();
      terminal.out(`ok       ${name}${typeof note === 'string' ? `: ${note}` : ''}\n`);
    } catch (error) {
      faults += 1;
      terminal.out(`problem  ${name}: ${(error as Error).message}\n`);
    }
  }
  if (faults === 0) return 0;
  const problems = faults === 1 ? '1 problem' : `${faults} problems`;
  terminal.err(`Found ${problems}: the server would not start.\n`);
  return 1;
}

function checksOf(config: Config, terminal: Terminal): readonly Check[] {
  return [
    ['public URLs', () => checkPublicUrls(config)],
    ...filesOf(config, terminal),
    ['data directory', () => checkWritable(config.data)],
    ['stores', () => checkStoresOf(config)],
    ...addressesOf(config),
    ...postgresOf(config),
  ];
}

function filesOf(config: Config, { env }: Terminal): readonly Check[] {
  const { tlsCert, tlsKey, postgresKeyFile, backupKeyFile, backupTo, otlpHeadersFile } = config;
  const checks: Check[] = [];
  if (tlsCert !== undefined && tlsKey !== undefined)
    checks.push(['TLS files', () => checkTls({ certFile: tlsCert, keyFile: tlsKey })]);
  if (postgresKeyFile !== undefined)
    checks.push(['--postgres-key-file', () => void readPostgresKey(postgresKeyFile)]);
  if (backupKeyFile !== undefined)
    checks.push(['--backup-key-file', () => void readBackupKey(backupKeyFile)]);
  if (config.identityProviders !== undefined)
    checks.push(['--identity-providers', () => void readProviderFile(config, systemClock)]);
  if (otlpHeadersFile !== undefined)
    checks.push(['--otlp-headers-file', () => void readHeaders(readFileSync(otlpHeadersFile, 'utf8'))]);
  if (backupTo?.startsWith('s3://'))
    checks.push(['credentials of the bucket', () => void readCredentials(config.backupS3Credentials, env)]);
  else if (backupTo !== undefined) checks.push(['--backup-to', () => checkWritable(backupTo)]);
  return checks;
}

function checkTls(files: { readonly certFile: string; readonly keyFile: string }): void {
  checkTlsTime(readTls(files), files, systemClock.now());
}

/** A missing directory would be created. */
function checkWritable(path: string): string | undefined {
  let at = path;
  while (!isPresent(at) && at !== dirname(at)) at = dirname(at);
  try {
    accessSync(at, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = isDenied(error) ? permissionDenied(at) : (error as Error).message;
    throw new Error(`Cannot write ${at}: ${why}`);
  }
  return at === path ? undefined : `${path} does not exist yet`;
}

/** The files of a running server change, so they are not checked. */
function checkStoresOf({ data, existing, postgres }: Config): string | undefined {
  if (existing) checkPrepared(data, willHave);
  if (!isPresent(data)) return 'a new store would be created';
  const user = userOf(data);
  if (user !== undefined) return `in use by ${user}: stop it before another server starts`;
  checkDataFiles(data);
  // Opening a store would create its lock file.
  const opened = layouts.filter(({ store }) => isPresent(join(data, store, 'lock.mdb')));
  checkLayouts(data, opened);
  if (!willHave(data, 'accounts/data.mdb')) {
    checkNoJournal(data);
    return 'a new store would be created';
  }
  if (!opened.includes(accountsLayout)) return 'not opened yet, so only their pages were checked';
  checkAccounts(data, postgres !== undefined);
  return undefined;
}

function checkAccounts(data: string, isNode: boolean): void {
  const lmdb = openLmdb(join(data, 'accounts'));
  const copy = readCopyState(lmdb);
  void lmdb.close();
  if (isNode) checkIsCopy(data, copy);
  else if (copy !== undefined) throw isCopy(data);
  const missing = missingFile(data, copy);
  if (missing !== undefined) throw cannotOpen(missing, 'it is missing');
}

function addressesOf(config: Config): readonly Check[] {
  const { data, grpcListen } = config;
  const all = [...assignHosts(config).map(({ address }) => address), grpcListen];
  return [...new Set(all)].map((address) => [`address ${address}`, () => checkAddress(address, data)]);
}

/** An address in use is not a fault if a server uses the data directory: it is expected to be that one. */
async function checkAddress(address: string, data: string): Promise<string | undefined> {
  const { host, port } = parseAddress(address);
  try {
    await bindOnce(host, port);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const user = isPresent(data) ? userOf(data) : undefined;
    if (code === 'EADDRINUSE' && user !== undefined) return `in use, as the data directory is by ${user}`;
    const why = code === 'EADDRINUSE' ? 'another process listens there; ss -ltnp shows which' : message;
    throw new Error(`Cannot listen on ${authority(host, port)}: ${why}`);
  }
}

function bindOnce(host: string, port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

function postgresOf({ postgres }: Config): readonly Check[] {
  const check = (url: string) =>
    withPostgres(postgresAddress(url), (connection) => connection.query({ text: 'SELECT 1' }));
  return postgres === undefined ? [] : [['PostgreSQL', () => check(postgres)]];
}
