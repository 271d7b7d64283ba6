import { statfsSync } from 'node:fs';

/** The size of the file system that a path is on, and what this process may still write there; bytes. */
export function diskSpace(path: string): { readonly size: number; readonly free: number } {
  const { bsize, blocks, bavail } = statfsSync(path);
  return { size: bsize * blocks, free: bsize * bavail };
}
