import { hasPortZero } from '../contract/port-zero.ts';
import { UsageError } from './options.ts';

/** The default server: the address where `serve` listens by default. */
export const usualUrl = 'http://127.0.0.1:8080';

/**
 * Reads the address of a server. Omits a slash at the end.
 * @param by name of the option or variable that contains the address
 * @throws {UsageError}
 */
export function readServerUrl(text: string, by: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = (url?.protocol === 'https:' || url?.protocol === 'http:') && !hasPortZero(text);
  if (url === undefined || !isWeb || url.username + url.password + url.search + url.hash !== '') {
    const shown = text.replace(/\/\/[^/]*@/, '//…@');
    throw new UsageError(`Cannot use ${by} ${shown}: must be an address such as https://flags.example.com`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** True if other machines on the network can read requests to the address. */
export function isReadable(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(127(\.\d+){3}|\[::1\]|localhost)$/.test(hostname);
}
