import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import { binaryPath, type Credentials, freshDirectory, type Started, startProcess } from './binary.ts';
import { sendCheck } from './shop.ts';

/** A service on its own file system, which `fill` fills up and `free` frees again. */
export interface OnSmallDisk extends Started {
  fill(): void;
  free(): void;
}

/** Starts a service whose file system has 48 MB. It needs `canMount`. @param args more of `serve`, after the default ones */
export function startOnSmallDisk(args: readonly string[] = []): Promise<OnSmallDisk> {
  return startMounted('', args);
}

/** As `startOnSmallDisk`, with a store that is prepared there. */
export async function prepareOnSmallDisk(): Promise<OnSmallDisk & { credentials: Credentials }> {
  const file = `${freshDirectory()}/init.json`;
  const init = `"${binaryPath}" init --data "$DISK/data" --admin-email a@example.com --json >"${file}" &&`;
  const service = await startMounted(init, []);
  return { ...service, credentials: JSON.parse(readFileSync(file, 'utf8')) };
}

async function startMounted(before: string, args: readonly string[]): Promise<OnSmallDisk> {
  const disk = `${freshDirectory()}/disk`;
  mkdirSync(disk);
  const listen = '--listen 127.0.0.1:0 --grpc-listen 127.0.0.1:0';
  const serve = `exec "${binaryPath}" serve --data "$DISK/data" ${listen} "$@"`;
  const script = `mount -t tmpfs -o size=48m none "$DISK" && ${before} ${serve}`;
  const options = ['--mount', '--map-root-user', 'sh', '-c', script, 'sh', ...args];
  const service = await startProcess('unshare', options, { DISK: disk });
  const mounted = `/proc/${service.pid}/root${disk}`;
  expect(existsSync(`${mounted}/data`)).toBe(true);
  return {
    ...service,
    fill: () => fillDisk(`${mounted}/filler`),
    free: () => rmSync(`${mounted}/filler`),
  };
}

function fillDisk(file: string): void {
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M'], { stdio: 'ignore' });
  } catch {
    // dd ends with an error when there is no room left: that is what it is for.
  }
}

/** Sends packets with new features until one is refused. @returns how many were accepted */
export async function sendUntilFull(http: string, key: string): Promise<number> {
  for (let accepted = 0; ; accepted += 1) {
    const status = await sendCheck(http, key, `filling-${accepted}`);
    if (status === 503) return accepted;
    expect(status).toBe(202);
  }
}
