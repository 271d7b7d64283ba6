import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageFile } from './tar.ts';

/** Lists all files in a folder. @param below folder of the files in the package */
export function folderFiles(folder: string, below: string): readonly PackageFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()
    .map((path) => ({ path: `${below}/${path}`, content: { sourcePath: join(folder, path) } }));
}
