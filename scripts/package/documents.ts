import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageFile } from './stage.ts';

/** Lists the pages of `docs` and their pictures, and the files they refer to: alert rules, dashboard and examples. */
export function documents(root: string, below: string): readonly PackageFile[] {
  const folder = join(root, 'docs');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()
    .map((path) => ({ path: `${below}/${path}`, content: { sourcePath: join(folder, path) } }));
}
