import { type Behind, example, type ProxyKind, type RunningProxy, runProxy } from './proxy-program.ts';

const files = { haproxy: 'proxy/haproxy.cfg', nginx: 'proxy/nginx.conf', caddy: 'proxy/Caddyfile' } as const;

export interface ProxyChanges {
  /** True to use TLS to the server, as in the example's commented lines. */
  readonly tls?: boolean;
  /** Lines to replace, each with its replacement. */
  readonly replace?: Readonly<Record<string, string>>;
}

/**
 * Starts a proxy with the example for one machine from the docs.
 * @throws {Error} with its output, if it does not start to listen; or if a line to replace is missing
 */
export function startProxy(
  kind: ProxyKind,
  folder: string,
  server: Behind,
  { tls = false, replace = {} }: ProxyChanges = {},
): Promise<RunningProxy> {
  let text = example(files[kind]);
  for (const [line, other] of Object.entries(replace)) {
    if (!text.includes(line)) throw new Error(`${files[kind]} has no ${line}`);
    text = text.replace(line, other);
  }
  if (tls) text = withTls(text);
  const own = text.replaceAll('127.0.0.1:8080', server.http).replaceAll('127.0.0.1:8081', server.grpc);
  return runProxy(kind, folder, own);
}

/** Replaces the lines without TLS by the commented lines with TLS. */
function withTls(text: string): string {
  return text
    .replace(/^\s*(?:proxy_pass http:|grpc_pass grpc:|server flagmeter 127|reverse_proxy @grpc h2c:).*$/gm, '')
    .replace(/^(\s*)#(?=proxy_|grpc_|server |reverse_proxy|tls_|\t|\})/gm, '$1')
    .replace('reverse_proxy http:', 'reverse_proxy https:')
    .replaceAll('tls_server_name flags.example.com', 'tls_server_name localhost')
    .replaceAll('_name flags.example.com', '_name localhost')
    .replaceAll('verifyhost flags.example.com', 'verifyhost localhost');
}
