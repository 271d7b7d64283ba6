import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** An entry of an archive. */
export interface PackageFile {
  /** Path relative to the root of the archive. */
  readonly path: string;
  /** Content of a file: text or bytes, or the path of the file to copy. `undefined` for a folder. */
  readonly content: string | Buffer | { readonly sourcePath: string } | undefined;
  /** Mode; by default 0o644 for a file and 0o755 for a folder. */
  readonly mode?: number;
  /** User and group; 0 by default. */
  readonly owner?: number;
}

const block = 512;

/**
 * Builds an archive in memory. Equal files give equal bytes: the entries are sorted and have the same time. The
 * folders of the files get entries too.
 * @param within folder that contains the files in the archive; '' for none
 * @throws {Error} if a path is too long for the format ustar
 */
export function createTar(within: string, files: readonly PackageFile[], epoch: number): Buffer {
  const entries = new Map<string, PackageFile>();
  const prefix = within === '' ? '' : `${within}/`;
  for (const file of files) {
    const path = `${prefix}${file.path}${file.content === undefined ? '/' : ''}`;
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
      if (!entries.has(`${folder}/`)) entries.set(`${folder}/`, { path: folder, content: undefined });
    entries.set(path, file);
  }
  if (within === '.') entries.set('./', { path: '.', content: undefined });
  const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
  const parts = sorted.flatMap(([path, file]) => {
    const bytes = readContent(file);
    return [header(path, file, bytes.length, epoch), bytes, Buffer.alloc(padding(bytes.length, block))];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

/** Returns the content of a file; no bytes for a folder. */
export function readContent({ content }: PackageFile): Buffer {
  if (content === undefined) return Buffer.alloc(0);
  if (typeof content === 'string') return Buffer.from(content);
  return Buffer.isBuffer(content) ? content : readFileSync(content.sourcePath);
}

/** Number of bytes that follow `length` bytes up to the next multiple of `unit`. */
export function padding(length: number, unit: number): number {
  return (unit - (length % unit)) % unit;
}

/** Returns the header of an entry in the format ustar (POSIX.1-1988). */
function header(path: string, { content, mode, owner = 0 }: PackageFile, size: number, epoch: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`Cannot pack ${path}: the path has more than 100 bytes`);
  const folder = content === undefined;
  const bytes = Buffer.alloc(block);
  const octal = (value: number, offset: number, digits: number) =>
    bytes.write(value.toString(8).padStart(digits, '0'), offset, 'latin1');
  bytes.write(path, 0);
  octal(mode ?? (folder ? 0o755 : 0o644), 100, 7);
  octal(owner, 108, 7);
  octal(owner, 116, 7);
  octal(size, 124, 11);
  octal(epoch, 136, 11);
  // The checksum counts its own field as spaces.
  bytes.fill(' ', 148, 156);
  bytes.write(folder ? '5' : '0', 156, 'latin1');
  bytes.write('ustar\0' + '00', 257, 'latin1');
  if (owner === 0) {
    bytes.write('root', 265, 'latin1');
    bytes.write('root', 297, 'latin1');
  }
  octal(
    bytes.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  bytes[154] = 0;
  return bytes;
}
