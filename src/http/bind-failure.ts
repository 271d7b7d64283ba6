import { lookup } from 'node:dns/promises';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { authority, plainAddress } from '../runtime/addresses.ts';

const reasons: Record<string, string> = {
  EACCES: 'not permitted to bind this port',
  EPERM: 'not permitted to bind this port',
  EADDRNOTAVAIL: 'not an address of this machine',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
};

/**
 * Returns the error of a listener that could not be opened, with the address and the reason. The HTTP engines report
 * the reason unreliably, so this function binds the address once more to find it.
 * @param cause error of the HTTP engine; used if binding succeeds here
 */
export async function bindFailure(host: string, port: number, cause: NodeJS.ErrnoException): Promise<Error> {
  return failure(host, port, (await whyNot(host, port)) ?? cause);
}

/**
 * Checks that an address is free, before the HTTP engine opens it for sharing with other listeners.
 * @returns the port; a free port if `port` is 0
 * @throws {Error} the error of `bindFailure` if the address is in use
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
  if (holder === undefined) return 'the address is in use; stop the process that uses it, or choose another address';
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

/** Listens briefly to test the address. @returns the port */
async function tryOut(host: string, port: number): Promise<number> {
  // The host name is resolved before binding, because Bun's `listen` does not report an unknown name.
  const { address } = await lookup(host);
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject);
    probe.listen(port, address, () => {
      const bound = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(bound));
    });
  });
}

interface PortHolder {
  readonly pid: number;
  readonly name: string;
}

interface ListeningSocket {
  readonly address: string;
  readonly port: number;
  readonly inode: string;
}

/**
 * Finds the process whose socket prevents binding an address. Only root can see the sockets of other users.
 * @param address IPv4 or IPv6 address in the form of `plainAddress`
 * @returns `undefined` if no process is found
 */
export function portHolder(address: string, port: number): PortHolder | undefined {
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => listeningIn(readText(path)));
  const isEvery = (each: string) => each === '0.0.0.0' || each === '::';
  const inWay = sockets.filter(
    (socket) => socket.port === port && (socket.address === address || isEvery(socket.address) || isEvery(address)),
  );
  const links = new Set(inWay.map(({ inode }) => `socket:[${inode}]`));
  if (links.size === 0) return undefined;
  const pids = listEntries('/proc').map(Number).filter(Number.isInteger);
  const pid = pids.sort((a, b) => a - b).find((each) => holds(each, links));
  return pid === undefined ? undefined : { pid, name: readProcessName(pid) };
}

/** Parses the lines of `/proc/net/tcp` in state 0A, which is LISTEN. */
export function listeningIn(text: string): ListeningSocket[] {
  const line = /^\s*\d+: ([\dA-F]+):([\dA-F]{4}) [\dA-F]+:[\dA-F]{4} 0A(?: +\S+){5} +(\d+)/gm;
  return Array.from(text.matchAll(line), ([, address = '', port = '', inode = '']) => ({
    address: parseAddress(address),
    port: Number.parseInt(port, 16),
    inode,
  }));
}

/** Parses a hexadecimal address. The kernel writes each group of four bytes as a little-endian integer. */
function parseAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  return plainAddress(groups.join(':'))!;
}

function holds(pid: number, links: ReadonlySet<string>): boolean {
  return listEntries(`/proc/${pid}/fd`).some((fd) => links.has(readLink(`/proc/${pid}/fd/${fd}`)));
}

/** Returns the name of a process without unprintable characters, because a process can choose any name. */
function readProcessName(pid: number): string {
  return readText(`/proc/${pid}/comm`)
    .trimEnd()
    .replaceAll(/[^\x20-\x7e]/g, '?');
}

// These functions return an empty result if the process has exited during the search or belongs to another user.

function listEntries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
