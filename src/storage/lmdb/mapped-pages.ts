import { readFileSync } from 'node:fs';

/** The value of `MADV_DONTNEED` on Linux. */
const dontNeed = 4;

/**
 * Returns a function that removes the pages of data files from the resident memory of this process. LMDB maps the whole
 * file, and each page stays resident once it was read. The pages remain in the page cache, so reading a page again
 * causes only a minor fault. LMDB reads the map but writes to the file, so no change is lost.
 * @returns `undefined` outside of Bun on Linux with glibc
 */
export async function openMappedPages(): Promise<((files: readonly string[]) => void) | undefined> {
  const madvise = process.versions['bun'] === undefined ? undefined : await openMadvise();
  if (madvise === undefined) return undefined;
  return (files) => {
    for (const [start, end] of listMaps(files)) madvise(start, end - start, dontNeed);
  };
}

type Madvise = (address: number, length: number, advice: number) => number;

async function openMadvise(): Promise<Madvise | undefined> {
  try {
    const { dlopen } = await import('bun:ffi');
    const libc = dlopen('libc.so.6', { madvise: { args: ['ptr', 'usize', 'i32'], returns: 'i32' } });
    return libc.symbols.madvise as unknown as Madvise;
  } catch {
    return undefined;
  }
}

/** The addresses at which files are mapped, read-only and shared. */
function listMaps(files: readonly string[]): (readonly [start: number, end: number])[] {
  return readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, start, end, path] = /^(\w+)-(\w+) r--s (?:\S+ +){3}(\/.+)$/.exec(line) ?? [];
      if (path === undefined || !files.includes(path)) return [];
      return [[Number.parseInt(start!, 16), Number.parseInt(end!, 16)] as const];
    });
}
