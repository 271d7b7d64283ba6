import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Writes the file SHA256SUMS, which `sha256sum --check` reads. @returns the file names, including SHA256SUMS */
export function writeChecksums(folder: string, names: readonly string[]): readonly string[] {
  const lines = [...names].sort().map((name) => `${sha256Of(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
  return [...names, 'SHA256SUMS'];
}
