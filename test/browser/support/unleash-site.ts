import type { Elsewhere } from '../../support/unreliable-host.ts';

/** The flags of an Unleash server, as its frontend API returns them. */
const toggles = [
  { name: 'checkout', enabled: true, variant: { name: 'disabled', enabled: false }, impressionData: false },
  { name: 'banner', enabled: true, variant: { name: 'blue', enabled: true }, impressionData: false },
];

/**
 * Handles requests for a site and for its Unleash server, behind a proxy that sends only the reports of SDKs to
 * flagmeter.
 * @param scripts scripts of the pages, by path
 */
export function unleashSite(scripts: ReadonlyMap<string, string>): Elsewhere {
  return ({ url = '', headers }, response) => {
    if (/\/client\/(metrics|register)$/.test(url)) return false;
    const script = scripts.get(url);
    const open = {
      'access-control-allow-origin': '*',
      'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
      'content-type': script === undefined ? 'application/json' : 'text/html; charset=utf-8',
    };
    const page = `<!doctype html><title>A shop</title><body><script>${script}</script>`;
    response.writeHead(200, open).end(script === undefined ? JSON.stringify({ toggles }) : page);
    return true;
  };
}
