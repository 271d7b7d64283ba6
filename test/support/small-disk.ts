import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import { binaryPath, type Credentials, freshDirectory, type StartedProcess, startProcess } from './binary.ts';
import { openShop, sendCheck } from './shop.ts';

/** A service on a separate file system. `fill` fills the file system, and `free` frees its space. */
export interface OnSmallDisk extends StartedProcess {
  fill(): void;
  free(): void;
}

/** Starts a service on a file system of 48 MB. Requires `canMount`. @param args additional arguments of `serve` */
export function startOnSmallDisk(args: readonly string[] = []): Promise<OnSmallDisk> {
  return startMounted('', args);
}

/** Prepares a store on a file system of 48 MB, and starts a service there. */
export async function prepareOnSmallDisk(): Promise<OnSmallDisk & { credentials: Credentials }> {
  const file = `${freshDirectory()}/init.json`;
  const init = `"${binaryPath}" init --data "$DISK/data" --admin-email a@example.com --json >"${file}" &&`;
  const service = await startMounted(init, []);
  return { ...service, credentials: JSON.parse(readFileSync(file, 'utf8')) };
}

/** A service with an application, on a separate file system. `resize` changes the size of the file system. */
export interface OnResizableDisk extends OnSmallDisk {
  /** A Frontend key. */
  readonly key: string;
  resize(size: string): void;
}

/** Starts a service on a file system of the given size. @param args additional arguments of `serve` */
export async function startOnResizableDisk(size: string, args: readonly string[]): Promise<OnResizableDisk> {
  const file = `${freshDirectory()}/init.json`;
  const init = `"${binaryPath}" init --data "$DISK/data" --admin-email a@example.com --json >"${file}" &&`;
  const service = await startMounted(init, args, size);
  const { key } = await openShop(service.http, JSON.parse(readFileSync(file, 'utf8')));
  const inside = ['--mount', '--user', '--preserve-credentials', '--target', String(service.pid)];
  const resize = (size: string) =>
    void execFileSync('nsenter', [...inside, 'mount', '-o', `remount,size=${size}`, service.disk]);
  return { ...service, key, resize };
}

async function startMounted(
  before: string,
  args: readonly string[],
  size = '48m',
): Promise<OnSmallDisk & { readonly disk: string }> {
  const disk = `${freshDirectory()}/disk`;
  mkdirSync(disk);
  const listen = '--listen 127.0.0.1:0 --grpc-listen 127.0.0.1:0';
  const serve = `exec "${binaryPath}" serve --data "$DISK/data" ${listen} "$@"`;
  const script = `mount -t tmpfs -o size=${size} none "$DISK" && ${before} ${serve}`;
  const options = ['--mount', '--map-root-user', 'sh', '-c', script, 'sh', ...args];
  const service = await startProcess('unshare', options, { DISK: disk });
  const mounted = `/proc/${service.pid}/root${disk}`;
  expect(existsSync(`${mounted}/data`)).toBe(true);
  return { ...service, disk, fill: () => fillDisk(`${mounted}/filler`), free: () => rmSync(`${mounted}/filler`) };
}

function fillDisk(file: string): void {
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M'], { stdio: 'ignore' });
  } catch {
    // dd fails when the disk is full, as intended.
  }
}

/** Sends packets with new features until one is refused. @returns the number of accepted packets */
export async function sendUntilFull(http: string, key: string): Promise<number> {
  for (let accepted = 0; ; accepted += 1) {
    const status = await sendCheck(http, key, `filling-${accepted}`);
    if (status === 503) return accepted;
    expect(status).toBe(202);
  }
}
