import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Waits until a file, or the entries of a directory, are on disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
