import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file of a package. */
export interface PackageFile {
  /** Path of the file, relative to the package's root. */
  readonly path: string;
  /** Content of the file: text or bytes, or the path of the file to copy. */
  readonly content: string | Buffer | { readonly sourcePath: string };
  /** File mode; 0o644 by default. */
  readonly mode?: number;
}

/** Writes the files to a directory, with modes that do not depend on the user's umask. */
export function stage(folder: string, files: readonly PackageFile[]): void {
  for (const { path, content, mode = 0o644 } of files) {
    const file = join(folder, path);
    makeFolder(folder, dirname(path));
    if (typeof content === 'string' || Buffer.isBuffer(content)) writeFileSync(file, content);
    else copyFileSync(content.sourcePath, file);
    chmodSync(file, mode);
  }
}

function makeFolder(root: string, path: string): void {
  const steps = path === '.' ? [] : path.split('/');
  for (let count = 0; count <= steps.length; count += 1) {
    const folder = join(root, ...steps.slice(0, count));
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
  }
}
