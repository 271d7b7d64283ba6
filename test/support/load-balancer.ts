import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/http/bind-failure.ts';
import { reaches } from './reaches.ts';

/** The addresses of a node's two listeners. */
export interface Behind {
  readonly http: string;
  readonly grpc: string;
}

export interface LoadBalancer {
  readonly port: number;
  stop(): Promise<void>;
}

const tls = (name: string) => fileURLToPath(new URL(`../http/support/tls/${name}.pem`, import.meta.url));
const example = (name: string) =>
  readFileSync(new URL(`../../docs/examples/cluster/${name}`, import.meta.url), 'utf8');

/** An example of the papers with the addresses of a test: nothing else in it is changed. */
function adapt(text: string, port: number, nodes: readonly Behind[]): string {
  const addressed = text.replaceAll(/10\.0\.0\.(\d):(8080|8081)/g, (_, number: string, kind: string) => {
    const node = nodes[(Number(number) - 1) % nodes.length]!;
    return kind === '8080' ? node.http : node.grpc;
  });
  return addressed
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`);
}

const kinds = {
  haproxy(folder: string, port: number, nodes: readonly Behind[]): string[] {
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(join(folder, 'both.pem'), readFileSync(tls('cert')) + readFileSync(tls('key'), 'utf8'));
    const text = adapt(example('haproxy.cfg'), port, nodes).replace(
      '/etc/haproxy/flagmeter.pem',
      join(folder, 'both.pem'),
    );
    // Each node has its ports on one machine here, so its health is asked for at its own.
    const numbered = nodes.map(({ http, grpc }) => ({ grpc, port: http.split(':')[1]! }));
    const checked = numbered.reduce(
      (given, node) => given.replaceAll(`${node.grpc}\n`, `${node.grpc} port ${node.port}\n`),
      text.replace(' port 8080', ''),
    );
    writeFileSync(file, checked);
    return ['haproxy', '-db', '-f', file];
  },
  nginx(folder: string, port: number, nodes: readonly Behind[]): string[] {
    const text = adapt(example('nginx.conf'), port, nodes)
      .replace('/etc/nginx/flagmeter.crt', tls('cert'))
      .replace('/etc/nginx/flagmeter.key', tls('key'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    );
    const around = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;\nevents {}\nhttp { access_log off; ${paths.join(' ')}\n`;
    writeFileSync(join(folder, 'nginx.conf'), `${around}${text}}\n`);
    return ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf')];
  },
} as const;

export type BalancerKind = keyof typeof kinds;

/**
 * Starts a load balancer with the example of the papers, with TLS on a free port of this machine, for `localhost`.
 * @throws {Error} with what it said, when it does not listen
 */
export async function startBalancer(
  kind: BalancerKind,
  folder: string,
  nodes: readonly Behind[],
): Promise<LoadBalancer> {
  const port = await freePort('127.0.0.1', 0);
  const own = join(folder, kind);
  mkdirSync(own, { recursive: true });
  const [command = '', ...args] = kinds[kind](own, port, nodes);
  const path = `${process.env['PATH']}:/usr/sbin`;
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: path },
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
