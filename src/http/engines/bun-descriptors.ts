import { dlopen, ptr } from 'bun:ffi';
import { readdirSync } from 'node:fs';
import { plainAddress } from '../../runtime/addresses.ts';
import { readDescriptorLimit, withReserve } from '../../runtime/descriptor-reserve.ts';
import type { Descriptors, Peer } from '../connection-limiter.ts';

/** Linux constants: `AF_INET`, `AF_INET6`, `IPPROTO_TCP`, `TCP_INFO`, `SHUT_RDWR`. */
const ipv4 = 2;
const ipv6 = 10;
const tcp = 6;
const tcpInfo = 11;
const bothWays = 2;

/** Offsets in `struct tcp_info`, in 4-byte words: time since data was last sent, and number of sent data segments. */
const lastDataSent = 11;
const dataSegmentsOut = 39;

/**
 * Opens this process's descriptors with the C library, because `Bun.serve` hides connections until their first request.
 * @returns `undefined` on systems other than Linux with glibc
 */
export function openDescriptors(): Descriptors | undefined {
  const limit = readDescriptorLimit();
  const libc = limit === undefined ? undefined : openLibc();
  if (limit === undefined || libc === undefined) return undefined;
  const { readPort, readSender, readPeer } = createSocketReader(libc);
  return {
    limit,
    next() {
      const descriptor = libc.eventfd(0, 0);
      if (descriptor < 0) return limit;
      libc.close(descriptor);
      return descriptor;
    },
    peersAt(ports) {
      const peers: Peer[] = [];
      let others = 0;
      for (const descriptor of openFiles(limit)) {
        const port = readPort(descriptor);
        const peer = port !== undefined && ports.has(port) ? readPeer(descriptor) : undefined;
        if (peer !== undefined) peers.push(peer);
        else if (port !== 0) others += 1;
      }
      return { others, peers };
    },
    shutDown({ descriptor, address, port }) {
      const now = readSender(descriptor);
      if (now?.address === address && now.port === port) libc.shutdown(descriptor, bothWays);
    },
  };
}

function createSocketReader(libc: Libc) {
  // Each array gets an ArrayBuffer of its own, because the bytes of a small array move when its buffer is first used.
  const address = new Uint8Array(new ArrayBuffer(28));
  const length = new Uint32Array(new ArrayBuffer(4));
  const info = new Uint32Array(new ArrayBuffer(256));
  const addressAt = ptr(address);
  const lengthAt = ptr(length);
  const infoAt = ptr(info);

  /** Returns the local port of a socket; 0 after its connection was closed. */
  const readPort = (descriptor: number): number | undefined => {
    length[0] = address.length;
    if (libc.getsockname(descriptor, addressAt, lengthAt) !== 0) return undefined;
    const family = address[0]! | (address[1]! << 8);
    return family === ipv4 || family === ipv6 ? portIn(address) : undefined;
  };
  /** @returns `undefined` for the listener itself */
  const readSender = (descriptor: number): { readonly address: string; readonly port: number } | undefined => {
    length[0] = address.length;
    if (libc.getpeername(descriptor, addressAt, lengthAt) !== 0) return undefined;
    return { address: formatAddress(address), port: portIn(address) };
  };
  const readPeer = (descriptor: number): Peer | undefined => {
    const sender = readSender(descriptor);
    if (sender === undefined) return undefined;
    info.fill(0);
    length[0] = info.byteLength;
    libc.getsockopt(descriptor, tcp, tcpInfo, infoAt, lengthAt);
    return { ...sender, descriptor, answered: info[dataSegmentsOut]! > 0, quietMs: info[lastDataSent]! };
  };
  return { readPort, readSender, readPeer };
}

/** Lists the open files. Listing needs a free descriptor. If none is free, returns every number below the limit. */
function openFiles(limit: number): number[] {
  try {
    return withReserve(() => readdirSync('/proc/self/fd')).map(Number);
  } catch {
    return Array.from({ length: limit }, (_, descriptor) => descriptor);
  }
}

type Libc = NonNullable<ReturnType<typeof openLibc>>;

function openLibc() {
  try {
    return dlopen('libc.so.6', {
      close: { args: ['i32'], returns: 'i32' },
      eventfd: { args: ['u32', 'i32'], returns: 'i32' },
      getpeername: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
      getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
      getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
      shutdown: { args: ['i32', 'i32'], returns: 'i32' },
    }).symbols;
  } catch {
    return undefined;
  }
}

function portIn(bytes: Uint8Array): number {
  return (bytes[2]! << 8) | bytes[3]!;
}

function formatAddress(bytes: Uint8Array): string {
  if (bytes[0] === ipv4) return bytes.subarray(4, 8).join('.');
  const groups = Array.from({ length: 8 }, (_, at) => (bytes[8 + 2 * at]! << 8) | bytes[9 + 2 * at]!);
  return plainAddress(groups.map((group) => group.toString(16)).join(':'))!;
}
