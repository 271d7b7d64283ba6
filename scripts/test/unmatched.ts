import { readdirSync } from 'node:fs';
import { join, normalize } from 'node:path';

/**
 * Returns the first argument that is not contained in the path of any test file, as vitest compares them. `undefined`
 * if all are contained, or the arguments include options, whose values look like files.
 */
export function unmatched(root: string, args: readonly string[]): string | undefined {
  if (args.some((arg) => arg.startsWith('-'))) return undefined;
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => name.endsWith('.test.ts')).map((name) => join(root, 'test', name));
  return args.find((arg) => !paths.some((path) => path.includes(normalize(arg.replace(/:\d+$/, '')))));
}
