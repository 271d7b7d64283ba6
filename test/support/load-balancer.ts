import { type Behind, example, type RunningProxy, runProxy } from './proxy-program.ts';

/** Replaces the addresses in an example of the docs by the addresses of a test. Nothing else is changed. */
function adapt(text: string, nodes: readonly Behind[]): string {
  return text.replaceAll(/10\.0\.0\.(\d):(8080|8081)/g, (_, number: string, kind: string) => {
    const node = nodes[(Number(number) - 1) % nodes.length]!;
    return kind === '8080' ? node.http : node.grpc;
  });
}

const configurations = {
  haproxy(nodes: readonly Behind[]): string {
    const text = adapt(example('cluster/haproxy.cfg'), nodes);
    // The nodes run on one machine here, so the health check of each node uses that node's port.
    const numbered = nodes.map(({ http, grpc }) => ({ grpc, port: http.split(':')[1]! }));
    return numbered.reduce(
      (given, node) => given.replaceAll(`${node.grpc}\n`, `${node.grpc} port ${node.port}\n`),
      text.replace(' port 8080', ''),
    );
  },
  nginx: (nodes: readonly Behind[]): string => adapt(example('cluster/nginx.conf'), nodes),
} as const;

export type BalancerKind = keyof typeof configurations;

/**
 * Starts a load balancer with the docs' example configuration for several machines.
 * @throws {Error} with its output, if it does not start to listen
 */
export function startBalancer(kind: BalancerKind, folder: string, nodes: readonly Behind[]): Promise<RunningProxy> {
  return runProxy(kind, folder, configurations[kind](nodes));
}
