import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function sha256Of(file: string): string {
  return sha256(readFileSync(file));
}

/** Writes the file SHA256SUMS, which `sha256sum --check` reads. */
export function writeChecksums(folder: string, names: readonly string[]): void {
  const lines = [...names].sort().map((name) => `${sha256Of(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}
