import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BlockList, isIP } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type Api, openApi } from '../cli/api.ts';
import type { Arguments } from '../cli/command.ts';
import type { Context } from '../cli/context.ts';
import { UsageError } from '../cli/options.ts';
import { readServerUrl } from '../cli/server-url.ts';
import { openAccess } from '../cli/session.ts';
import { clientVariables } from '../contract/client-variables.ts';
import type { Combination } from './sweep.ts';

/** A server under load. */
export interface Target {
  /** `HOST:PORT` of the metrics host. */
  readonly http: string;
  readonly grpc: string | undefined;
  readonly api: Api;
  /** Process id; absent if the bench did not start the server. */
  readonly pid?: number;
  readonly data?: string;
  stop(): Promise<void>;
}

/** Maximum time for a clean stop, ms. */
const stopMs = 15_000;
const keptOutput = 4_000;

/** Settings without rate limits, because the sweep measures the machine. */
const unlimited = ['--rate=0', '--api-rate=0', '--token-rate=0', '--max-connections-per-address=0'];

/**
 * Starts `serve` of this executable on free ports of the loopback interface and a new store.
 * @param directory path of the store, which must not exist
 * @throws {Error} if the server does not start; the error contains the messages of the server
 */
export async function startOwnServer(directory: string, combination: Combination, context: Context): Promise<Target> {
  const data = join(directory, 'data');
  const { stdout } = await promisify(execFile)(
    ...command(['init', '--admin-email=bench@localhost', `--data=${data}`, '--json']),
    { env: environment(context) },
  );
  const { clientId, clientSecret } = JSON.parse(stdout) as { clientId: string; clientSecret: string };
  const settings = Object.entries(combination).map(([name, value]) => `--${name}=${value}`);
  const addresses = ['listen', 'grpc-listen', 'metrics-listen'].map((name) => `--${name}=127.0.0.1:0`);
  const [program, args] = command([
    'serve',
    `--data=${data}`,
    ...addresses,
    '--log-level=warn',
    ...unlimited,
    ...settings,
  ]);
  // The server has its own process group, so Ctrl-C in the terminal does not stop it. It is stopped after its stage.
  const child = spawn(program, args, { env: environment(context), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    await stopChild(child);
    process.off('exit', kill);
  };
  try {
    const line = await readyLine(child);
    const [, http = ''] = /\bhttp=(\S+)/.exec(line) ?? [];
    const [, grpc] = /\bgrpc=(\S+)/.exec(line) ?? [];
    const [, metrics = http] = /\bmetrics=(\S+)/.exec(line) ?? [];
    const env = { [clientVariables.clientId]: clientId, [clientVariables.clientSecret]: clientSecret };
    const own = { ...context, env };
    const url = `http://${http}`;
    return { http: metrics, grpc, api: openApi(own, url, openAccess(own, url)), pid: child.pid!, data, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the command line of this program with the given arguments. A compiled program contains its script. */
function command(args: readonly string[]): [program: string, args: string[]] {
  const script = process.argv[1];
  const own = script === undefined || script.startsWith('/$bunfs/') ? [] : [script];
  return [process.execPath, [...own, ...args]];
}

/** Returns the environment variables without settings of flagmeter, which would change the measured server. */
function environment({ env }: Context): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !name.startsWith('FLAGMETER_'));
  return Object.fromEntries(kept) as Record<string, string>;
}

function readyLine(child: ChildProcess): Promise<string> {
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-keptOutput);
  });
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.startsWith('flagmeter ready ')) resolve(line);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`The server did not start: ${errors.trim()}`)));
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
  await closed;
  clearTimeout(timer);
}

/** Returns a server that is already running. The bench does not stop it. @throws {UsageError} for a refused address */
export function runningServer(given: Arguments, context: Context): Target {
  const url = readServerUrl(given.value('url') ?? '', '--url');
  const { protocol, hostname, host, pathname } = new URL(url);
  if (protocol !== 'http:')
    throw new UsageError(
      'Cannot use --url with TLS: the load generator speaks plain HTTP; use the address behind the proxy',
    );
  if (pathname !== '/')
    throw new UsageError('Cannot use --url with a path: the load generator sends to the root of the server');
  checkOwner(hostname, given);
  const grpc = given.value('grpc');
  if (grpc !== undefined) checkOwner(parseHost(grpc), given);
  const api = openApi(context, url, openAccess(context, url));
  return { http: host, grpc, api, stop: async () => {} };
}

/** Returns the host of `--grpc`. @throws {UsageError} */
function parseHost(address: string): string {
  const url = `http://${address}`;
  if (/^[^/?#@\s]+:\d+$/.test(address) && URL.canParse(url)) return new URL(url).hostname;
  throw new UsageError(`Cannot use --grpc ${address}: must be HOST:PORT, without TLS`);
}

/** Checks that the user owns a server: a load test of someone else's server is an attack. @throws {UsageError} */
function checkOwner(hostname: string, given: Arguments): void {
  if (isLoopback(hostname) || given.has('i-own-this-host')) return;
  throw new UsageError(
    `Cannot drive ${hostname}: not a loopback address. The load can make a server unavailable. If it is yours, add --i-own-this-host`,
  );
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** True if a host is this machine. The only accepted name is `localhost`, because other names can be any host. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === 'localhost') return true;
  const version = isIP(host);
  return version !== 0 && loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
