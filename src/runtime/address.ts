/**
 * Splits a valid `HOST:PORT`. An empty host means every IPv4 address.
 * @returns the host without brackets, as socket functions expect
 */
export function parseAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host: host === '' ? '0.0.0.0' : host, port: Number(address.slice(colon + 1)) };
}

/** HOST:PORT, with an IPv6 host in brackets. */
export function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
