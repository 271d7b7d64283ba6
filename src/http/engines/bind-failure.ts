const reasons: Record<string, string> = {
  EADDRINUSE: 'the address is in use',
  EACCES: 'binding it needs more permission',
  EPERM: 'binding it needs more permission',
  EADDRNOTAVAIL: 'no interface of this machine has the host',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
};

/** The error of a listener that cannot be opened: it names the address and says why. */
export function bindFailure(host: string, port: number, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Error(`Cannot listen on ${address}: ${reasons[code ?? ''] ?? message}`, { cause });
}
