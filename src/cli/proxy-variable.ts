import type { Context } from './context.ts';

/** A proxy that the environment sets for requests. */
interface ProxyVariable {
  readonly variable: string;
  /** HOST:PORT, without user and password. */
  readonly address: string;
}

/** The proxy of the environment for a URL, by the rules of the runtime's `fetch`. */
export function proxyFor(url: string, env: Context['env']): ProxyVariable | undefined {
  const { protocol, hostname, host } = new URL(url);
  const names = [`${protocol.slice(0, -1)}_proxy`, 'all_proxy'];
  const variable = names.flatMap((name) => [name, name.toUpperCase()]).find((name) => env[name]);
  if (variable === undefined || isExcepted(hostname, host, env)) return undefined;
  const proxy = env[variable]!;
  const address = URL.canParse(proxy) ? new URL(proxy).host || proxy : proxy;
  return { variable, address: address.replace(/^.*@/, '') };
}

/** Whether `NO_PROXY` has the host: `*`, or the name or a suffix of it, with or without its port. */
function isExcepted(hostname: string, host: string, env: Context['env']): boolean {
  const list = (env['no_proxy'] || env['NO_PROXY'] || '').toLowerCase().split(',');
  return list.some((entry) => {
    const name = entry.trim().replace(/^\*?\./, '');
    const suffix = `.${name}`;
    return name !== '' && (name === '*' || [hostname, host].some((each) => `.${each}`.endsWith(suffix)));
  });
}
