import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshDirectory } from './binary.ts';

/** Compiles a C file of this folder to a library for LD_PRELOAD. @returns its path */
export function compilePreload(name: string): string {
  const library = join(freshDirectory(), `${name}.so`);
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source]);
  return library;
}
