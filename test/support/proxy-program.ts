import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/http/bind-failure.ts';
import { reaches } from './reaches.ts';

/** The addresses of the two listeners of a server behind a proxy. */
export interface Behind {
  readonly http: string;
  readonly grpc: string;
}

export const proxyKinds = ['haproxy', 'nginx', 'caddy'] as const;

export type ProxyKind = (typeof proxyKinds)[number];

export interface RunningProxy {
  readonly port: number;
  stop(): Promise<void>;
}

const tls = (name: string) => fileURLToPath(new URL(`../http/support/tls/${name}.pem`, import.meta.url));

export function example(path: string): string {
  return readFileSync(new URL(`../../docs/examples/${path}`, import.meta.url), 'utf8');
}

/** Writes a proxy's configuration, with a test's files in place of an operator's files. @returns the start command */
const prepare = {
  haproxy(folder: string, text: string): string[] {
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(join(folder, 'both.pem'), readFileSync(tls('cert')) + readFileSync(tls('key'), 'utf8'));
    const own = text
      .replaceAll('/etc/haproxy/flagmeter.pem', join(folder, 'both.pem'))
      .replaceAll('/etc/haproxy/flagmeter-ca.pem', tls('cert'))
      .replaceAll('/run/haproxy/admin.sock', join(folder, 'admin.sock'));
    writeFileSync(file, own);
    return ['haproxy', '-db', '-f', file];
  },
  nginx(folder: string, text: string): string[] {
    const own = text
      .replaceAll('/etc/nginx/flagmeter.crt', tls('cert'))
      .replaceAll('/etc/nginx/flagmeter.key', tls('key'))
      .replaceAll('/etc/nginx/flagmeter-ca.crt', tls('cert'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    );
    const around = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;\nevents {}\nhttp { access_log off; ${paths.join(' ')}\n`;
    writeFileSync(join(folder, 'nginx.conf'), `${around}${own}}\n`);
    return ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf')];
  },
  caddy(folder: string, text: string): string[] {
    const file = join(folder, 'Caddyfile');
    const own = text
      .replaceAll('/etc/caddy/flagmeter.crt', tls('cert'))
      .replaceAll('/etc/caddy/flagmeter.key', tls('key'))
      .replaceAll('/etc/caddy/flagmeter-ca.crt', tls('cert'))
      .replace(/^\{$/m, '{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1');
    writeFileSync(file, own);
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', file];
  },
} as const;

/**
 * Runs a proxy. Its configuration for port 443 is changed to a free port of this machine, with TLS for `localhost`.
 * @throws {Error} with its output, if it does not start to listen
 */
export async function runProxy(kind: ProxyKind, folder: string, text: string): Promise<RunningProxy> {
  const port = await freePort('127.0.0.1', 0);
  const own = join(folder, kind);
  mkdirSync(own, { recursive: true });
  const here = text
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace(/^\w+\.example\.com:443/m, `https://:${port}`);
  const [command = '', ...args] = prepare[kind](own, here);
  const path = `${process.env['PATH']}:/usr/sbin`;
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: path, XDG_CONFIG_HOME: own, XDG_DATA_HOME: own },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.once('error', (error) => {
    said += error.message;
  });
  while (!(await reaches('127.0.0.1', port))) {
    if (!isAlive(child)) throw new Error(`${command} did not start: ${said}`);
    await pause(20);
  }
  return { port, stop: () => end(child) };
}

function isAlive({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

async function end(child: ChildProcess): Promise<void> {
  if (!isAlive(child)) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
