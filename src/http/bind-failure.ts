import { lookup } from 'node:dns/promises';
import { createServer } from 'node:net';
import { authority } from '../address.ts';

const reasons: Record<string, string> = {
  EADDRINUSE: 'the address is in use',
  EACCES: 'binding it needs more permission',
  EPERM: 'binding it needs more permission',
  EADDRNOTAVAIL: 'no interface of this machine has the host',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
};

/**
 * The error of a listener that could not be opened: it names the address and says why. No server can be relied on to
 * know the reason, so the system is asked.
 * @param cause what the server said: the reason when the system finds none
 */
export async function bindFailure(host: string, port: number, cause: NodeJS.ErrnoException): Promise<Error> {
  const { code, message } = (await whyNot(host, port)) ?? cause;
  return new Error(`Cannot listen on ${authority(host, port)}: ${reasons[code ?? ''] ?? message}`, { cause });
}

async function whyNot(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  try {
    // Looked up apart from binding, because Bun's `listen` does not say that a name is unknown.
    const { address } = await lookup(host);
    await tryOut(address, port);
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

function tryOut(address: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject);
    probe.listen(port, address, () => probe.close(() => resolve()));
  });
}
