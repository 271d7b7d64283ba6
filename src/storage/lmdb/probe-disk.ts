import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isOutOfSpace } from './out-of-space.ts';

/** `full`: out of space, but otherwise sound. `broken`: cannot be written for any other reason. */
export type DiskState = 'writable' | 'full' | 'broken';

/** More than the commit of a full batch needs. */
const probeBytes = 16 * 1024 * 1024;

/** Tests the data directory by writing to it, because LMDB reports a full disk as a generic I/O error. */
export function probeDisk(data: string): DiskState {
  const file = join(data, 'probe.tmp');
  const zeros = Buffer.alloc(probeBytes);
  try {
    const descriptor = openSync(file, 'w', 0o600);
    try {
      for (let written = 0; written < probeBytes; ) written += writeSync(descriptor, zeros, written);
      fdatasyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return 'writable';
  } catch (error) {
    return isOutOfSpace(error) ? 'full' : 'broken';
  } finally {
    rmSync(file, { force: true });
  }
}
