import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../src/http/bind-failure.ts';

const own = import.meta.dirname;
const installed = join(own, '../../node_modules/.cache/unleash-server');

/**
 * Installs the modules of this folder, next to the dependencies of the project: 200 MB.
 * @returns the folder of their `node_modules`
 */
export async function installUnleash(): Promise<string> {
  mkdirSync(installed, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(own, name), join(installed, name));
  const isComplete = existsSync(join(installed, 'node_modules/unleash-server/dist/server.js'));
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  if (!isComplete) await promisify(execFile)('npm', args, { cwd: installed });
  return installed;
}

const adminToken = '*:*.unleash-insecure-admin-api-token';

/** A server of Unleash. */
export interface UnleashServer {
  readonly port: number;
  /** Calls its admin API. @throws {Error} unless it succeeds */
  admin(method: string, path: string, body?: object): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Starts a server on an empty database.
 * @param token a token of SDKs for the environment `production`
 * @throws {Error} with its output, if it does not get ready
 */
export async function startUnleash(database: string, token: string): Promise<UnleashServer> {
  const port = await freePort('127.0.0.1', 0);
  const child = spawn(process.execPath, [join(installed, 'node_modules/unleash-server/dist/server.js')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: process.env['PATH'], TZ: 'UTC', NODE_ENV: 'production' },
      ...{ DATABASE_URL: database, DATABASE_SSL: 'false' },
      ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: String(port), CHECK_VERSION: 'false', SEND_TELEMETRY: 'false' },
      ...{ INIT_ADMIN_API_TOKENS: adminToken, INIT_BACKEND_API_TOKENS: token },
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`Unleash did not get ready: ${said}`);
    await pause(100);
  }
  return { port, admin: (...request) => call(port, ...request), stop: () => end(child) };
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
  } catch {
    return false;
  }
}

async function call(port: number, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/api/admin${path}`, {
    method,
    headers: { authorization: adminToken, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Unleash answered ${response.status} to ${method} ${path}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
