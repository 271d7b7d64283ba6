import { BlockList, isIP } from 'node:net';
import { openApi } from '../cli/api.ts';
import type { Given } from '../cli/command.ts';
import type { Context } from '../cli/context.ts';
import { UsageError } from '../cli/flags.ts';
import { readServerUrl } from '../cli/server-url.ts';
import { openAccess } from '../cli/session.ts';
import type { Target } from './own-server.ts';

/** A server that runs already, and is not stopped. @throws {UsageError} for an address that is refused */
export function runningServer(given: Given, context: Context): Target {
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
  if (grpc !== undefined) checkOwner(hostOf(grpc), given);
  const api = openApi(context, url, openAccess(context, url));
  return { http: host, grpc, api, stop: async () => {} };
}

/** The host of `--grpc`. @throws {UsageError} */
function hostOf(address: string): string {
  const url = `http://${address}`;
  if (/^[^/?#@\s]+:\d+$/.test(address) && URL.canParse(url)) return new URL(url).hostname;
  throw new UsageError(`Cannot use --grpc ${address}: must be HOST:PORT, without TLS`);
}

/** A load test of a server of someone else is an attack. @throws {UsageError} */
function checkOwner(hostname: string, given: Given): void {
  if (isLoopback(hostname) || given.has('i-own-this-host')) return;
  throw new UsageError(
    `Cannot drive ${hostname}: not a loopback address. The load may make a server unavailable. If it is yours, add --i-own-this-host`,
  );
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Whether a host is this machine. Only `localhost` is accepted as a name: another one may resolve to anything. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === 'localhost') return true;
  const version = isIP(host);
  return version !== 0 && loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
