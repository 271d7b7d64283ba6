import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { hub } from './network.ts';
import type { ServiceNode } from './service-node.ts';

const http = `${hub}:8080`;

/** Addresses of the service through the balancer, which recognises requests to the metrics host by their path. */
export const balanced = { http, metrics: http, grpc: `${hub}:8081` };

const backends = ['http', 'metrics', 'grpc'] as const;

/** HAProxy in front of all nodes. It tries another node if a connection is refused, but never repeats a request. */
export class Balancer {
  readonly #process: ChildProcess;
  readonly #control: string;

  private constructor(process: ChildProcess, control: string) {
    this.#process = process;
    this.#control = control;
  }

  static start(folder: string, nodes: readonly ServiceNode[]): Balancer {
    const control = join(folder, 'haproxy.sock');
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configuration(control, nodes));
    const log = openSync(join(folder, 'haproxy.log'), 'a');
    return new Balancer(spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', log, log] }), control);
  }

  /** Stops sending new requests to a node. */
  async withdraw(node: ServiceNode): Promise<void> {
    for (const each of backends) await this.#command(`set server ${each}/${node.name} state maint`);
  }

  async admit(node: ServiceNode): Promise<void> {
    for (const each of backends) await this.#command(`set server ${each}/${node.name} state ready`);
  }

  close(): void {
    this.#process.kill('SIGKILL');
  }

  #command(text: string): Promise<void> {
    return new Promise((done, failed) => {
      const socket = connect(this.#control, () => socket.end(`${text}\n`));
      socket.once('error', failed).once('close', () => done());
      socket.resume();
    });
  }
}

function configuration(control: string, nodes: readonly ServiceNode[]): string {
  const check = 'check inter 300ms fall 2 rise 1';
  const servers = (more: (node: ServiceNode) => string) =>
    nodes.map((node) => `  server ${node.name} ${more(node)}`).join('\n');
  return `global
  stats socket ${control} level admin
  maxconn 2000
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 15s
  timeout check 1s
  retries 2
  option redispatch 1
frontend http
  bind ${balanced.http}
  use_backend metrics if { path_beg /api/frontend /api/usage /api/metrics }
  default_backend http
backend http
  balance roundrobin
  option httpchk GET /healthz
  http-response set-header x-node %s
${servers((node) => `${node.http} ${check}`)}
backend metrics
  balance roundrobin
  option httpchk GET /healthz
  http-response set-header x-node %s
${servers((node) => `${node.metrics} ${check}`)}
frontend grpc
  bind ${balanced.grpc} proto h2
  default_backend grpc
backend grpc
  balance roundrobin
  option httpchk GET /healthz
${servers((node) => `${node.grpc} proto h2 ${check} port 8080 check-proto h1`)}
`;
}
