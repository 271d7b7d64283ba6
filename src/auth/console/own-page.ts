import type { Request } from '../../http/types.ts';

/** The header with which the console sends its requests. No form can send it, and no preflight ever allows it. */
const consoleHeader = 'flagmeter-console';

/**
 * Makes the check that a page of the console itself has sent a request: only then its cookie counts (RFC 10017 §6.1.3.3).
 * The browser says so in `Sec-Fetch-Site`, which no page can write. It does not send that header over plain HTTP, unless to
 * the loopback: there the console's own header has to do, and `Origin` where there is one.
 * @param baseUrl the public URL of the base host
 */
export function ownPageCheck(baseUrl: string): (request: Pick<Request, 'header'>) => boolean {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isTold = protocol === 'https:' || isLoopback(hostname);
  return (request) => {
    if (request.header(consoleHeader) !== '1') return false;
    const site = request.header('sec-fetch-site');
    if (site !== undefined || isTold) return site === 'same-origin';
    const from = request.header('origin');
    return from === undefined || from === origin;
  };
}

function isLoopback(hostname: string): boolean {
  return hostname === '[::1]' || /^127(\.\d+){3}$|^(.+\.)?localhost$/.test(hostname);
}
