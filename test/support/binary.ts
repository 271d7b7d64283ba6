import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './free-ports.ts';
import { givenPassword } from './given-password.ts';
import { patienceMs } from './patience.ts';

/** The executable that `npm run build` creates. */
export const binaryPath = resolve(import.meta.dirname, '../../dist/flagmeter');

/** The end of a process: its exit code or the signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that has printed its ready line. */
export interface StartedProcess {
  /** `HOST:PORT` of the HTTP listener, and of the metrics host, which can have a listener of its own. */
  readonly http: string;
  readonly metrics: string;
  readonly line: string;
  readonly pid: number;
  /** Returns the standard error so far. */
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  readonly exit: Promise<Exit>;
}

/** A running service. */
export interface Binary extends StartedProcess {
  /** `HOST:PORT` of its gRPC listener. */
  readonly grpc: string;
  /** Data directory of the process. */
  readonly data: string;
}

export interface BinaryOptions {
  /** Data directory; by default a new directory that `cleanUp` removes. */
  readonly data?: string;
  /** Additional arguments of `serve`. They follow the default arguments. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Path of an executable other than `dist/flagmeter`. */
  readonly binary?: string;
}

/** The output of `flagmeter init --json`. */
export interface Credentials {
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly teamId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Processes that were started and have not ended. */
export const running = new Set<ChildProcess>();
const directories = new Set<string>();

/** Creates an empty temp directory that `cleanUp` removes. */
export function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'flagmeter-'));
  directories.add(directory);
  return directory;
}

const closers = new Set<() => Promise<unknown>>();

/**
 * Registers something to close after the tests of the file. @returns a function that closes it earlier, and only once
 */
export function closing(close: () => Promise<unknown>): () => Promise<void> {
  const once = async () => {
    if (closers.delete(once)) await close();
  };
  closers.add(once);
  return once;
}

/** Closes everything that is open, the latest first, and cleans up. Vitest calls it after each test file. */
export async function closeAll(): Promise<void> {
  try {
    for (const close of [...closers].reverse()) await close();
  } finally {
    cleanUp();
  }
}

/** Kills the running processes of this module, and removes its temp directories. */
export function cleanUp(): void {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  directories.clear();
}

process.once('exit', cleanUp);

/** @throws {Error} if the executable is missing; the message contains the command that builds it */
export function requireBinary(binary = binaryPath): string {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run \`npm run build\` first`);
  return binary;
}

/**
 * Prepares a store in `data` as `flagmeter init` does.
 * @throws {Error} if the executable fails, with its output
 */
export async function prepare(data: string, binary = binaryPath): Promise<Credentials> {
  const admin = ['--admin-email', 'bench@localhost', ...givenPassword(freshDirectory())];
  const args = ['init', '--data', data, '--json', ...admin];
  const options = { cwd: freshDirectory(), env: cleanEnvironment() };
  const { stdout } = await promisify(execFile)(requireBinary(binary), args, options);
  return JSON.parse(stdout) as Credentials;
}

/**
 * Starts `flagmeter serve` in an empty working directory on free ports, and waits until it is ready.
 * @throws {Error} with its standard error, if it exits or times out before that
 */
export async function startBinary(options: BinaryOptions = {}): Promise<Binary> {
  const binary = requireBinary(options.binary);
  const data = options.data ?? join(freshDirectory(), 'data');
  const args = ['serve', '--data', data, ...freePorts, ...(options.args ?? [])];
  const started = await startProcess(binary, args, options.env);
  const grpc = /\bgrpc=(\S+)/.exec(started.line)?.[1];
  if (grpc === undefined) throw new Error(`no gRPC address in the ready line: ${started.line}`);
  return { ...started, grpc, data };
}

/**
 * Starts any process that prints `… ready http=HOST:PORT …` as a line on stdout, and waits for that line.
 * @throws {Error} with its standard error, if it exits or times out before that
 */
export async function startProcess(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<StartedProcess> {
  const child = spawn(command, args, {
    cwd: freshDirectory(),
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exit = new Promise<Exit>((ended) => {
    child.once('error', (error) => {
      errors += error.message;
    });
    child.once('close', (code, signal) => {
      running.delete(child);
      ended({ code, signal });
    });
  });
  try {
    const line = await readyLine(child, exit);
    const http = /\bhttp=(\S+)/.exec(line)?.[1] as string;
    return {
      http,
      metrics: /\bmetrics=(\S+)/.exec(line)?.[1] ?? http,
      line,
      pid: child.pid as number,
      stderr: () => errors,
      kill: (signal) => void child.kill(signal),
      exit,
    };
  } catch (error) {
    child.kill('SIGKILL');
    // Vitest would mistake the process's stack frames for its own, and fail to open their files.
    const output = errors.replace(/^ +at /gm, '| at ');
    throw new Error(`${command} did not get ready: ${(error as Error).message}\n${output}`);
  }
}

/** Returns the environment without `FLAGMETER_…` variables, which the service would read. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FLAGMETER_')));
}

function readyLine(child: ChildProcess, exit: Promise<Exit>): Promise<string> {
  return new Promise((ready, failed) => {
    const timer = setTimeout(() => failed(new Error(`silent for ${patienceMs} ms`)), patienceMs);
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const line = /^\S+ ready http=.*(?=\n)/m.exec(output)?.[0];
      if (line === undefined) return;
      clearTimeout(timer);
      ready(line);
    });
    exit.then(({ code, signal }) => {
      clearTimeout(timer);
      failed(new Error(`it ended with ${signal ?? `code ${code}`}`));
    });
  });
}

/** Stops a process with a signal, as an operator would, and waits until it has ended. */
export async function stop(started: StartedProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
  started.kill(signal);
  return started.exit;
}

/** Requests an access token for the management API. @throws {Error} unless the status is 200 */
export async function token(http: string, credentials: Credentials): Promise<string> {
  const response = await fetch(`http://${http}/connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
      scope: 'openid flagmeter',
    }),
  });
  const { access_token } = (await read(response, 200)) as { access_token: string };
  return access_token;
}

/** @param fields at least `name` @returns the application's id @throws {Error} unless the status is 201 */
export async function createApplication(
  http: string,
  accessToken: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<string> {
  const path = '/api/v2/applications';
  const { id } = (await manage(http, accessToken, 'POST', path, 201, fields)) as { id: string };
  return id;
}

/** @returns the new key: its `id`, and its text as `key` @throws {Error} unless the status is 201 */
export async function createKey(
  http: string,
  accessToken: string,
  applicationId: string,
  type: 'Frontend' | 'Mobile' | 'Backend',
): Promise<{ id: string; key: string }> {
  const path = `/api/v2/applications/${applicationId}/keys`;
  return (await manage(http, accessToken, 'POST', path, 201, { type })) as { id: string; key: string };
}

/** The fields of a usage report that tests and benchmarks read. */
export interface UsageReport {
  readonly to: string;
  readonly userDays: { readonly to: string };
  readonly features: readonly {
    readonly feature: string;
    readonly checks: number;
    readonly used: number;
    readonly viewed: number;
    readonly uniqueUsers: number;
    readonly variants: readonly {
      readonly variant: string;
      readonly checks: number;
      readonly used: number;
      readonly viewed: number;
      readonly uniqueUsers: number;
      readonly series: readonly (readonly [t: number, checks: number, used: number, viewed: number])[];
    }[];
  }[];
}

export interface UsageQuery {
  readonly environment: string;
  readonly from: Date;
  readonly to: Date;
  readonly step: 'minute' | 'hour' | 'day';
  readonly feature?: string;
}

/** Reads the usage report. @throws {Error} unless the status is 200 */
export async function usage(
  http: string,
  accessToken: string,
  applicationId: string,
  query: UsageQuery,
): Promise<UsageReport> {
  const parameters = new URLSearchParams({
    environment: query.environment,
    from: query.from.toISOString(),
    to: query.to.toISOString(),
    step: query.step,
    ...(query.feature === undefined ? {} : { feature: query.feature }),
  });
  const path = `/api/v2/applications/${applicationId}/usage?${parameters}`;
  return (await manage(http, accessToken, 'GET', path, 200)) as UsageReport;
}

/**
 * Calls the management API.
 * @returns the parsed response; `undefined` if it is empty
 * @throws {Error} unless the status is `expected`
 */
export async function manage(
  http: string,
  accessToken: string,
  method: string,
  path: string,
  expected: number,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`http://${http}${path}`, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return read(response, expected);
}

/** Sends JSON in a POST request. A text is sent unchanged. @returns the status */
export async function postJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

async function read(response: Response, expected: number): Promise<unknown> {
  const text = await response.text();
  const { status } = response;
  if (status !== expected)
    throw new Error(`${new URL(response.url).pathname} answered ${status}, not ${expected}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
