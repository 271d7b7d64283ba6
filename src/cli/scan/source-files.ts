import { closeSync, constants, type Dirent, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** Maximum size of a scanned file. Larger files are mostly generated. */
export const maxFileBytes = 1024 * 1024;

/** Number of leading bytes that are checked for a zero byte. As in git, a zero byte marks a binary file. */
const sniffed = 8000;

export interface SourceFile {
  /** Path with `/`, relative to the working directory, or to the scanned directory if it is elsewhere. */
  readonly path: string;
  readonly text: string;
}

export interface FileCounts {
  files: number;
  bytes: number;
  binary: number;
  large: number;
  unreadable: number;
  /** Number of `.gitignore` files that were not applied: links, special files, large and unreadable files. */
  ignoreFiles: number;
  /** Number of skipped directories with dependencies. */
  dependencies: number;
}

export function newCounts(): FileCounts {
  return { files: 0, bytes: 0, binary: 0, large: 0, unreadable: 0, ignoreFiles: 0, dependencies: 0 };
}

/** The rules of a `.gitignore`, and the directory that contains it. */
interface Rules {
  readonly directory: string;
  readonly ignore: Ignore;
}

/** Directories with dependencies, in any source tree. */
const dependencyFolders = new Set(['node_modules', 'bower_components', '.venv', 'venv', 'site-packages', 'Pods']);

/** Files next to a `vendor` directory with dependencies. Other `vendor` directories contain own code. */
const vendorManifests = ['go.mod', 'composer.json', 'Gemfile', 'Cargo.toml'];

/**
 * Yields the text files in a directory that git does not ignore, one at a time. A `.gitignore` can be in the directory,
 * below it, or above it up to the top of the repository. Skips dependencies, also without git. Links are not followed.
 */
export function* sourceFiles(
  directory: string,
  counts: FileCounts,
  workingDirectory = process.cwd(),
): Generator<SourceFile> {
  const top = resolve(workingDirectory, directory);
  const isBelow = `${top}${sep}`.startsWith(`${workingDirectory}${sep}`);
  const base = isBelow ? workingDirectory : top;
  const waiting: { readonly path: string; readonly rules: readonly Rules[] }[] = [
    { path: top, rules: rulesAbove(top, counts) },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const rules = addRules(next.path, next.rules, counts);
    const folders: string[] = [];
    const entries = readEntries(next.path, counts);
    for (const entry of entries) {
      const path = join(next.path, entry.name);
      if (entry.name === '.git' || isIgnored(path, entry.isDirectory(), rules)) continue;
      if (hasDependencies(entry, entries)) counts.dependencies += 1;
      else if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) yield* readSource(path, base, counts);
    }
    for (const path of folders.reverse()) waiting.push({ path, rules });
  }
}

/** @param siblings the entries of the same directory */
function hasDependencies(entry: Dirent, siblings: readonly Dirent[]): boolean {
  if (!entry.isDirectory()) return false;
  if (entry.name === 'vendor') return siblings.some(({ name }) => vendorManifests.includes(name));
  return dependencyFolders.has(entry.name);
}

function readEntries(path: string, counts: FileCounts): Dirent[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name));
  } catch {
    counts.unreadable += 1;
    return [];
  }
}

function* readSource(path: string, base: string, counts: FileCounts): Generator<SourceFile> {
  try {
    const bytes = readRegular(path, maxFileBytes);
    if (bytes === 'large') counts.large += 1;
    else if (bytes.subarray(0, sniffed).includes(0)) counts.binary += 1;
    else {
      counts.files += 1;
      counts.bytes += bytes.length;
      yield { path: slashed(relative(base, path)), text: bytes.toString() };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    counts.unreadable += 1;
  }
}

/** Returns the rules of the parent directories, from the top of the repository down. */
function rulesAbove(directory: string, counts: FileCounts): readonly Rules[] {
  const above: string[] = [];
  for (let at = directory; !existsSync(join(at, '.git')); at = dirname(at)) {
    if (dirname(at) === at) return [];
    above.unshift(dirname(at));
  }
  return above.reduce<readonly Rules[]>((rules, each) => addRules(each, rules, counts), []);
}

function addRules(directory: string, rules: readonly Rules[], counts: FileCounts): readonly Rules[] {
  const text = ignoreText(join(directory, '.gitignore'), counts);
  return text === undefined ? rules : [...rules, { directory, ignore: ignore().add(text) }];
}

/** @returns `undefined` if the file is missing or unreadable */
export function readText(path: string): string | undefined {
  try {
    const bytes = readRegular(path, maxFileBytes);
    return bytes === 'large' ? undefined : bytes.toString();
  } catch {
    return undefined;
  }
}

/** @returns `undefined` if the file is missing or not applied */
function ignoreText(path: string, counts: FileCounts): string | undefined {
  try {
    const bytes = readRegular(path, maxFileBytes);
    if (bytes !== 'large') return bytes.toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  }
  counts.ignoreFiles += 1;
  return undefined;
}

/** True if a path is ignored. The nearest directory whose rules match the path decides. */
function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  for (const { directory, ignore } of rules.toReversed()) {
    const { ignored, unignored } = ignore.test(slashed(relative(directory, path)) + (isDirectory ? '/' : ''));
    if (ignored || unignored) return ignored;
  }
  return false;
}

function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}

/** Opens a file without following links, as git does for ignore files, and without waiting for the writer of a FIFO. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Reads a regular file. Checks the opened file, not the path, because the path can name another file by then.
 * @returns `large` if the file has more than `mostBytes`
 * @throws {Error} with a `code`, if it cannot be read; `EINVAL` for a device, a FIFO or another special file
 */
function readRegular(path: string, mostBytes: number): Buffer | 'large' {
  const descriptor = openSync(path, openFlags);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EINVAL' });
    return stat.size > mostBytes ? 'large' : readBytes(descriptor, stat.size);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a file. Returns fewer bytes if the file shrinks while it is read. */
function readBytes(descriptor: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (let more = -1; more !== 0 && length < size; length += more)
    more = readSync(descriptor, bytes, length, size - length, null);
  return bytes.subarray(0, length);
}
