import type { Request } from '../../http/types.ts';

/** The header that marks requests of the console. No form can send it, and no preflight ever allows it. */
const consoleHeader = 'flagmeter-console';

/**
 * Makes the check that a request comes from a page of the console. Only then does its cookie count (RFC 10017 §6.1.3.3).
 * Browsers report this in `Sec-Fetch-Site`, which no page can set. Over plain HTTP they omit it, except to loopback. There, the
 * check relies on the console's own header, and on `Origin` if present.
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
