import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * True if an output is missing or older than an input. A directory stands for all its contents, and becomes newer when
 * a file in it is deleted.
 */
export function isStale(inputs: readonly string[], outputs: readonly string[]): boolean {
  const built = Math.min(...outputs.map((path) => modifiedAt(path) ?? 0));
  return inputs.flatMap(withContents).some((path) => (modifiedAt(path) ?? 0) > built);
}

function withContents(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return [path, ...names.map((name) => join(path, name))];
}

function modifiedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
