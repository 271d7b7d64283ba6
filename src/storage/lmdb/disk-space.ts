import { statfsSync } from 'node:fs';

/** Size of a path's file system, and the space that this process may still use, in bytes. */
export function diskSpace(path: string): { readonly size: number; readonly free: number } {
  const { bsize, blocks, bavail } = statfsSync(path);
  return { size: bsize * blocks, free: bsize * bavail };
}
