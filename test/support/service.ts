import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { newPassword } from '../../src/accounts/passwords.ts';
import { prepareStore } from '../../src/accounts/prepare.ts';
import type { ConsoleBundle } from '../../src/console/host/pages.ts';
import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import type { SnippetFiles } from '../../src/ingest/formats/telemetry/snippet.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { bindListeners } from '../../src/serve/bound-listeners.ts';
import { loadConfig } from '../../src/serve/config/config.ts';
import { type Service, startService } from '../../src/serve/service.ts';
import type { Storage } from '../../src/serve/storage.ts';
import { type AccountTables, openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { type Credentials, closing, freshDirectory } from './binary.ts';
import { cheapHash } from './cheap-hash.ts';
import { freePorts } from './free-ports.ts';

/** Returns the path of a built worker. A worker thread of Node cannot load TypeScript. */
export function workerFile(name: string): string {
  return fileURLToPath(new URL(`../../dist/node/${name}.js`, import.meta.url));
}

/** Returns the path of a worker of the service. On Bun, passwords are hashed at the lowest cost. */
function serviceWorker(name: string): string {
  if (name !== 'accounts/password-worker' || globalThis.Bun === undefined) return workerFile(name);
  return fileURLToPath(new URL('cheap-password-worker.ts', import.meta.url));
}

/** The console in the build. */
export const bundle: ConsoleBundle = {
  ...JSON.parse(readFileSync(new URL('../../dist/console.json', import.meta.url), 'utf8')),
  content: () => readFileSync(new URL('../../dist/console.bin', import.meta.url)),
};

/** The sender for pages in the build. */
export const snippet: SnippetFiles = JSON.parse(
  readFileSync(new URL('../../dist/snippet.json', import.meta.url), 'utf8'),
);

/** A complete service in the process of the test, with the HTTP engine of the test's runtime. */
export interface LocalService {
  /** HOST:PORT of the HTTP listener. */
  readonly http: string;
  /** HOST:PORT of the metrics host, if it has a listener of its own. */
  readonly metrics?: string;
  readonly grpc: string;
  readonly data: string;
  readonly credentials: Credentials;
  /** Returns the log so far. */
  log(): string;
  /** Replaces the operator's identity providers. */
  setProviders: Service['setProviders'];
  stop(): Promise<void>;
}

export interface LocalOptions {
  readonly args?: readonly string[];
  readonly clock?: Clock;
  /** Data directory; by default a new directory. */
  readonly data?: string;
  /** Credentials of a data directory that is already prepared. */
  readonly credentials?: Credentials;
  /** Accounts of the data directory that are already open. The service closes them. */
  readonly accounts?: AccountTables;
  /** Storage of accounts and usage; by default in the data directory. */
  readonly storage?: Storage;
}

/** Disables front-end threads unless the arguments set their number, because most tests do not need them. */
function chooseThreads(args: readonly string[] = []): readonly string[] {
  return args.includes('--threads') ? [] : ['--threads', '0'];
}

/** Starts the service on free ports. It is stopped after the tests of the file at the latest. */
export async function startLocal(options: LocalOptions = {}): Promise<LocalService> {
  const data = options.data ?? `${freshDirectory()}/data`;
  const time = options.clock ?? systemClock;
  const clock = { ...systemClock, now: () => time.now(), monotonic: () => time.monotonic() };
  const argv = ['--data', data, ...freePorts, ...chooseThreads(options.args), ...(options.args ?? [])];
  const config = loadConfig({ argv, env: {}, readFile: (path) => readFileSync(path, 'utf8') });
  const adminPassword = newPassword(randomBytes); // A chosen password need not be replaced at sign-in.
  const accounts = options.accounts ?? openAccountTables(data);
  const credentials =
    options.credentials ??
    (await prepareStore(accounts, {
      adminEmail: 'admin@localhost',
      adminPassword,
      clock,
      randomBytes,
      hash: cheapHash,
    }));
  const lines: string[] = [];
  const log = createLog('debug', (line) => void lines.push(line), clock);
  const fatal = (reason: string) => {
    throw new Error(reason);
  };
  const bound = await bindListeners({ config, engine: await loadHttpEngine(), clock, log });
  const { storage } = options;
  const own = { config, accounts, workerFile: serviceWorker, bundle, snippet, clock, randomBytes, log, fatal };
  const parts = { ...own, ...(storage && { storage }) };
  const service = await startService(parts, bound);
  const [{ listener }] = bound.listeners as [(typeof bound.listeners)[0]];
  return {
    http: `${listener.host}:${listener.port}`,
    grpc: `${bound.grpc.host}:${bound.grpc.port}`,
    data,
    credentials,
    log: () => lines.join(''),
    setProviders: service.setProviders,
    stop: closing(() => service.stop(1000)),
  };
}
