import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closing, freshDirectory } from './binary.ts';

/** Libraries that the tests of the file have compiled, by name. */
const libraries = new Map<string, string>();

/** Compiles a C file of this folder to a library for LD_PRELOAD, once in each test file. @returns its path */
export function compilePreload(name: string): string {
  const known = libraries.get(name);
  if (known !== undefined) return known;
  const library = join(freshDirectory(), `${name}.so`);
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source]);
  libraries.set(name, library);
  closing(async () => void libraries.delete(name));
  return library;
}
