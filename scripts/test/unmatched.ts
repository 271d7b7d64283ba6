import { readdirSync } from 'node:fs';
import { join, normalize } from 'node:path';

/**
 * Returns the first argument that no test file contains in its path, by the comparison that vitest uses. Returns
 * `undefined` if every argument matches. Also returns `undefined` if there are options, because their values look like
 * files.
 */
export function unmatched(root: string, args: readonly string[]): string | undefined {
  if (args.some((arg) => arg.startsWith('-'))) return undefined;
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => name.endsWith('.test.ts')).map((name) => join(root, 'test', name));
  return args.find((arg) => !paths.some((path) => path.includes(normalize(arg.replace(/:\d+$/, '')))));
}
