import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../src/http/bind-failure.ts';
import { getModulesPath, type ModuleSet } from '../support/install-modules.ts';

/** The npm packages of Unleash's server and SDK. They take 200 MB. */
export const unleashModules: ModuleSet = {
  folder: import.meta.dirname,
  name: 'unleash-server',
  file: 'unleash-server/dist/server.js',
};

const adminToken = '*:*.unleash-insecure-admin-api-token';

export interface UnleashServer {
  readonly port: number;
  readonly pid: number;
  /** Calls the server's admin API. @throws {Error} unless the request succeeds */
  admin(method: string, path: string, body?: object): Promise<unknown>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts an Unleash server on an empty database.
 * @param token a token of SDKs for the environment `production`
 * @param settings additional environment variables
 * @throws {Error} with its output, if it does not become ready
 */
export async function startUnleash(
  database: string,
  token: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<UnleashServer> {
  const port = await freePort('127.0.0.1', 0);
  const child = spawn('node', [join(getModulesPath(unleashModules), 'node_modules', unleashModules.file)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      TZ: 'UTC',
      NODE_ENV: 'production',
      DATABASE_URL: database,
      DATABASE_SSL: 'false',
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(port),
      CHECK_VERSION: 'false',
      SEND_TELEMETRY: 'false',
      INIT_ADMIN_API_TOKENS: adminToken,
      INIT_BACKEND_API_TOKENS: token,
      ...settings,
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
  return {
    port,
    pid: child.pid as number,
    admin: (...request) => call(port, ...request),
    stop: (signal = 'SIGTERM') => end(child, signal),
  };
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

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}
