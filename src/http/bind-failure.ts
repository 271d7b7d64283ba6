import { lookup } from 'node:dns/promises';
import { type AddressInfo, createServer } from 'node:net';
import { authority } from '../runtime/address.ts';
import { plainAddress } from '../runtime/ip-address.ts';
import { portHolder } from './port-holder.ts';

const reasons: Record<string, string> = {
  EACCES: 'not permitted to bind this port',
  EPERM: 'not permitted to bind this port',
  EADDRNOTAVAIL: 'not an address of this machine',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
};

/**
 * The error of a listener that could not be opened, with the address and the reason. The engines do not report the reason
 * reliably, so this asks the system.
 * @param cause reported by the engine; used if the system can open the address
 */
export async function bindFailure(host: string, port: number, cause: NodeJS.ErrnoException): Promise<Error> {
  return failure(host, port, (await whyNot(host, port)) ?? cause);
}

/**
 * Checks that an address which the engine will open as shared is not in use.
 * @returns the port; if it is 0, a free one
 * @throws {Error} as `bindFailure` creates it, if the address is in use
 */
export async function freePort(host: string, port: number): Promise<number> {
  try {
    return await tryOut(host, port);
  } catch (error) {
    throw await failure(host, port, error as Error);
  }
}

async function failure(host: string, port: number, cause: NodeJS.ErrnoException): Promise<Error> {
  const { code = '', message } = cause;
  const reason = code === 'EADDRINUSE' ? await inUse(host, port) : (reasons[code] ?? message);
  return new Error(`Cannot listen on ${authority(host, port)}: ${reason}`, { cause });
}

async function inUse(host: string, port: number): Promise<string> {
  const address = plainAddress((await lookup(host)).address);
  const holder = address === undefined ? undefined : portHolder(address, port);
  if (holder === undefined)
    return 'the address is in use; stop the process that uses it, or choose another address';
  return `the address is in use by ${holder.name} (pid ${holder.pid}); stop it, or choose another address`;
}

async function whyNot(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await tryOut(host, port);
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/** Listens briefly. @returns the port */
async function tryOut(host: string, port: number): Promise<number> {
  // Resolved before binding, because Bun's `listen` does not report an unknown name.
  const { address } = await lookup(host);
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject);
    probe.listen(port, address, () => {
      const bound = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(bound));
    });
  });
}
