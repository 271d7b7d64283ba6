import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { BuildArtifact } from 'bun';
import { minifySync } from 'rolldown/utils';

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** A file of the console as the server sends it. */
export interface CompressedFile {
  readonly name: string;
  readonly type: string;
  readonly gzip: Buffer;
  /** Absent for images, because they are already compressed. */
  readonly brotli?: Buffer;
}

/** A file of a bundle. */
export interface Chunk {
  readonly file: CompressedFile;
  /** Gzipped size. */
  readonly bytes: number;
}

/**
 * Minifies and compresses the files of a bundle. Their names contain a hash of their content and of everything that
 * they import, so that browsers can cache them forever.
 * @returns the files by their names in the bundler's output
 */
export async function finish(outputs: readonly BuildArtifact[]): Promise<ReadonlyMap<string, Chunk>> {
  const texts = new Map<string, string>();
  for (const output of outputs) {
    const text = await output.text();
    texts.set(output.path, extname(output.path) === '.js' ? minified(text) : text);
  }
  const names = new Map([...texts.keys()].map((path) => [path, finalName(path, texts)]));
  return new Map([...texts].map(([path, text]) => [path, compress(names.get(path)!, renamed(text, names))]));
}

/** Returns the total gzipped size of some files. */
export function sumSizes(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes, 0);
}

function finalName(path: string, texts: ReadonlyMap<string, string>): string {
  // The hash starts with the file's own text, because files of an import cycle would otherwise have the same hash.
  const hash = createHash('sha256').update(texts.get(path)!);
  for (const each of [...reachable(path, texts)].sort()) hash.update(texts.get(each)!);
  const ending = extname(path);
  const stem = basename(path, ending).replace(/-[a-z0-9]{8}$/, '');
  return `${stem}-${hash.digest('base64url').slice(0, 12)}${ending}`;
}

/** Finds a file and all files that it imports directly or indirectly. Imports can be circular. */
function reachable(path: string, texts: ReadonlyMap<string, string>, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const other of texts.keys()) if (texts.get(path)!.includes(basename(other))) reachable(other, texts, found);
  return found;
}

function renamed(text: string, names: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [path, name] of names) result = result.replaceAll(path, `./${name}`);
  return result;
}

function compress(name: string, text: string): Chunk {
  const type = mediaTypes[extname(name)];
  if (type === undefined) throw new Error(`Cannot serve ${name}: unknown media type`);
  return compressed(name, type, Buffer.from(text));
}

/** Compresses a file. */
export function compressed(name: string, type: string, bytes: Buffer): Chunk {
  const gzip = gzipSync(bytes, { level: 9 });
  const brotli = type.startsWith('image/') ? {} : { brotli: brotliCompressSync(bytes) };
  return { file: { name, type, gzip, ...brotli }, bytes: gzip.length };
}

/** @throws {Error} if the text is not a valid script */
function minified(script: string): string {
  const options = { module: true, compress: { target: 'es2022' }, mangle: { toplevel: true } } as const;
  const { code, errors } = minifySync('main.js', script, options);
  if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join('\n'));
  return code;
}
