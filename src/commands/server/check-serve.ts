import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { checkNoJournal, checkPrepared, isCopy } from '../../accounts/prepare.ts';
import type { Terminal } from '../../cli/command.ts';
import { checkTlsTime, readTls } from '../../http/tls.ts';
import { checkIsCopy, isAway } from '../../replication/accounts/join-postgres.ts';
import { checkSamePostgres } from '../../replication/postgres/checks.ts';
import { readPostgresKey } from '../../replication/postgres/postgres-key.ts';
import { authority, parseAddress } from '../../runtime/addresses.ts';
import { systemClock } from '../../runtime/clock.ts';
import { findStatus, isDenied, isPresent, permissionDenied } from '../../runtime/files.ts';
import { type Config, loadConfig } from '../../serve/config/config.ts';
import { readProviderFile } from '../../serve/config/provider-file.ts';
import { assignHosts, checkPublicUrls } from '../../serve/listeners.ts';
import { readHeadersFile } from '../../serve/otlp/otlp.ts';
import { loadPostgresKey, postgresAddress, withPostgres } from '../../serve/postgres-connection.ts';
import { readBackupKey } from '../../storage/backup/backup-key.ts';
import { readCredentials } from '../../storage/backup/bucket.ts';
import { checkFolder } from '../../storage/backup/destination.ts';
import { type CopyState, readCopyState } from '../../storage/lmdb/accounts.ts';
import { cannotOpen, checkDataFiles, getDataFile, missingFile, willHave } from '../../storage/lmdb/data-directory.ts';
import { accountsLayout, checkLayouts, layouts } from '../../storage/lmdb/layout.ts';
import { openLmdb } from '../../storage/lmdb/lmdb.ts';
import { findDirectoryUser } from '../../storage/lmdb/lock.ts';

/** A named check. It returns a note or nothing, and throws an error for a fault. */
type Check = readonly [name: string, check: () => unknown];

/** A fault that does not prevent the server from starting. */
class Warning extends Error {}

/**
 * Runs `serve --check`: checks whether the server could start, lists all faults, and changes nothing.
 * @returns exit code: 0 when the server would start, 1 otherwise
 * @throws {UsageError} for wrong settings, on which the other checks depend
 */
export async function checkServe(argv: readonly string[], terminal: Terminal): Promise<number> {
  const config = loadConfig({ argv, env: terminal.env, readFile: terminal.readFile });
  terminal.out('ok       settings\n');
  let faults = 0;
  for (const [name, check] of listChecks(config, terminal)) {
    try {
      const note = await check();
      terminal.out(`ok       ${name}${typeof note === 'string' ? `: ${note}` : ''}\n`);
    } catch (error) {
      const isWarning = error instanceof Warning;
      if (!isWarning) faults += 1;
      terminal.out(`${isWarning ? 'warning ' : 'problem '} ${name}: ${(error as Error).message}\n`);
    }
  }
  if (faults === 0) return 0;
  const problems = faults === 1 ? '1 problem' : `${faults} problems`;
  terminal.err(`Found ${problems}: the server would not start.\n`);
  return 1;
}

function listChecks(config: Config, terminal: Terminal): readonly Check[] {
  return [
    ['public URLs', () => checkPublicUrls(config)],
    ...listFileChecks(config, terminal),
    ['data directory', () => checkDirectory(config.data)],
    ...listStoreChecks(config),
    ...listAddressChecks(config),
    ...listPostgresChecks(config),
  ];
}

function listFileChecks(config: Config, { env }: Terminal): readonly Check[] {
  const { tlsCert, tlsKey, postgresKeyFile, otlpHeadersFile, auditExport } = config;
  const checks: Check[] = [];
  if (tlsCert !== undefined && tlsKey !== undefined)
    checks.push(['TLS files', () => checkTls({ certFile: tlsCert, keyFile: tlsKey })]);
  if (postgresKeyFile !== undefined && config.postgres !== undefined)
    checks.push(['--postgres-key-file', () => void readPostgresKey(postgresKeyFile)]);
  if (config.identityProviders !== undefined)
    checks.push(['--identity-providers', () => void readProviderFile(config, systemClock)]);
  if (otlpHeadersFile !== undefined && config.otlpEndpoint !== undefined)
    checks.push(['--otlp-headers-file', () => void readHeadersFile(otlpHeadersFile)]);
  if (auditExport !== undefined) checks.push(['--audit-export', () => checkDirectory(auditExport)]);
  return [...checks, ...listBackupChecks(config, env)];
}

/** Lists the checks of backups. An unusable destination makes backups fail, but does not prevent the startup. */
function listBackupChecks(config: Config, env: Terminal['env']): readonly Check[] {
  const { backupKeyFile, backupEvery, backupTo, backupS3Credentials } = config;
  if (backupEvery === undefined || backupTo === undefined) return [];
  const checks: Check[] = [];
  if (backupKeyFile !== undefined) checks.push(['--backup-key-file', () => void readBackupKey(backupKeyFile)]);
  if (backupTo.startsWith('s3://'))
    checks.push(['credentials of the bucket', reportAsWarning(() => void readCredentials(backupS3Credentials, env))]);
  else checks.push(['--backup-to', reportAsWarning(() => checkFolder(backupTo))]);
  return checks;
}

function reportAsWarning(check: () => void): () => void {
  return () => {
    try {
      check();
    } catch (error) {
      throw new Warning(`${(error as Error).message}; the server would start, and its backups would fail`);
    }
  };
}

function checkTls(files: { readonly certFile: string; readonly keyFile: string }): void {
  checkTlsTime(readTls(files), files, systemClock.now());
}

/** Checks that a directory is writable. A missing directory passes if it could be created. */
function checkDirectory(path: string): string | undefined {
  let at = path;
  while (!isPresent(at) && at !== dirname(at)) at = dirname(at);
  if (!findStatus(at)!.isDirectory())
    throw new Error(`Cannot write ${path}: ${at === path ? 'it' : at} is not a directory`);
  const { R_OK, W_OK, X_OK } = constants;
  try {
    accessSync(at, at === path ? R_OK | W_OK | X_OK : W_OK | X_OK);
  } catch (error) {
    const why = isDenied(error) ? permissionDenied(at) : (error as Error).message;
    throw new Error(`Cannot write ${at}: ${why}`);
  }
  return at === path ? undefined : `${path} does not exist yet`;
}

/** Lists the checks of the stores. The list is empty if the data directory is a file. */
function listStoreChecks(config: Config): readonly Check[] {
  if (findStatus(config.data)?.isDirectory() === false) return [];
  return [['stores', () => checkStores(config)]];
}

/** Checks the stores. Skips the check if a server is running, because the server changes their files. */
function checkStores({ data, existing, postgres }: Config): string | undefined {
  if (existing) checkPrepared(data, willHave);
  if (!isPresent(data)) return 'a new store would be created';
  const user = findDirectoryUser(data);
  if (user !== undefined) return `in use by ${user}: stop it before another server starts`;
  checkDataFiles(data);
  // Opening a store would create a lock file, so stores without a lock file are not checked.
  const opened = layouts.filter(({ store }) => isPresent(join(data, store, 'lock.mdb')));
  checkLayouts(data, opened);
  if (!willHave(data, 'accounts/data.mdb')) {
    checkNoJournal(data);
    return 'a new store would be created';
  }
  if (!opened.includes(accountsLayout)) return 'the stores were not opened, so only their pages were checked';
  checkAccounts(data, postgres !== undefined);
  return undefined;
}

function copyStateIn(data: string): CopyState | undefined {
  const lmdb = openLmdb(join(data, 'accounts'));
  const copy = readCopyState(lmdb);
  void lmdb.close();
  return copy;
}

function checkAccounts(data: string, isNode: boolean): void {
  const copy = copyStateIn(data);
  if (isNode) checkIsCopy(data, copy);
  else if (copy !== undefined) throw isCopy(data);
  const missing = missingFile(data, copy);
  if (missing !== undefined && !willHave(data, relative(data, missing))) throw cannotOpen(missing, 'it is missing');
}

function listAddressChecks(config: Config): readonly Check[] {
  const { data, grpcListen } = config;
  const all = [...assignHosts(config).map(({ address }) => address), grpcListen];
  return [...new Set(all)].map((address) => [`address ${address}`, () => checkAddress(address, data)]);
}

/** Checks that an address is free. If a server uses the data directory, an address in use is expected. */
async function checkAddress(address: string, data: string): Promise<string | undefined> {
  const { host, port } = parseAddress(address);
  try {
    await bindOnce(host, port);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const user = isPresent(data) ? findDirectoryUser(data) : undefined;
    if (code === 'EADDRINUSE' && user !== undefined) return `in use by ${user}, like the data directory`;
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

function listPostgresChecks(config: Config): readonly Check[] {
  const { postgres } = config;
  return postgres === undefined ? [] : [['PostgreSQL', () => checkDatabase(config, postgres)]];
}

/** Checks PostgreSQL. A node that has joined before can count packets while PostgreSQL is unreachable. */
async function checkDatabase(config: Config, url: string): Promise<void> {
  const address = postgresAddress(url);
  const key = loadPostgresKey(config);
  try {
    await withPostgres(address, (connection) =>
      connection.transaction((run) => checkSamePostgres(run, detectDatabase(config.data), key)),
    );
  } catch (error) {
    if (!isAway(error) || !isPresent(getDataFile(config.data, 'spool'))) throw error;
    throw new Warning(`${(error as Error).message}; the server would start, and count without it`);
  }
}

/** Returns the database of a node's directory; `undefined` if the directory is in use, or was never opened. */
function detectDatabase(data: string): string | undefined {
  const canRead = isPresent(join(data, 'accounts/lock.mdb')) && findDirectoryUser(data) === undefined;
  return canRead ? copyStateIn(data)?.engine : undefined;
}
