import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { readRegular } from './read-regular.ts';

/** A larger file is hardly written by people. */
export const maxFileBytes = 1024 * 1024;

/** Bytes in which a binary file has a zero byte: git looks as far. */
const sniffed = 8000;

export interface SourceFile {
  /** With `/`: as the caller would name it, or below the directory when that is not below where the caller is. */
  readonly path: string;
  readonly text: string;
}

/** What was read, and what was left out. */
export interface FileTally {
  files: number;
  bytes: number;
  binary: number;
  large: number;
  unreadable: number;
  /** Ignore files that were not applied: links, special files, and those that are large or unreadable. */
  ignoreFiles: number;
}

/** The rules of a `.gitignore`, and the directory that they are for. */
interface Rules {
  readonly directory: string;
  readonly ignore: Ignore;
}

/**
 * The texts below a directory, one at a time, as git would take them: without what a `.gitignore` names, in the directory, below it,
 * or above it up to the top of the repository. Links are not followed.
 */
export function* sourceFiles(
  directory: string,
  tally: FileTally,
  workingDirectory = process.cwd(),
): Generator<SourceFile> {
  const top = resolve(workingDirectory, directory);
  const isBelow = `${top}${sep}`.startsWith(`${workingDirectory}${sep}`);
  const base = isBelow ? workingDirectory : top;
  const waiting: { readonly path: string; readonly rules: readonly Rules[] }[] = [
    { path: top, rules: rulesAbove(top, tally) },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const rules = withRulesOf(next.path, next.rules, tally);
    const folders: string[] = [];
    for (const entry of entriesOf(next.path, tally)) {
      const path = join(next.path, entry.name);
      if (entry.name === '.git' || isIgnored(path, entry.isDirectory(), rules)) continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) yield* readSource(path, base, tally);
    }
    for (const path of folders.reverse()) waiting.push({ path, rules });
  }
}

function entriesOf(path: string, tally: FileTally): Dirent[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name));
  } catch {
    tally.unreadable += 1;
    return [];
  }
}

function* readSource(path: string, base: string, tally: FileTally): Generator<SourceFile> {
  try {
    const bytes = readRegular(path, maxFileBytes);
    if (bytes === 'large') tally.large += 1;
    else if (bytes.subarray(0, sniffed).includes(0)) tally.binary += 1;
    else {
      tally.files += 1;
      tally.bytes += bytes.length;
      yield { path: slashed(relative(base, path)), text: bytes.toString() };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    tally.unreadable += 1;
  }
}

/** The rules of the directories above, from the top of the repository on. */
function rulesAbove(directory: string, tally: FileTally): readonly Rules[] {
  const above: string[] = [];
  for (let at = directory; !existsSync(join(at, '.git')); at = dirname(at)) {
    if (dirname(at) === at) return [];
    above.unshift(dirname(at));
  }
  return above.reduce<readonly Rules[]>((rules, each) => withRulesOf(each, rules, tally), []);
}

function withRulesOf(directory: string, rules: readonly Rules[], tally: FileTally): readonly Rules[] {
  const text = ignoreText(join(directory, '.gitignore'), tally);
  return text === undefined ? rules : [...rules, { directory, ignore: ignore().add(text) }];
}

/** The text of an ignore file; `undefined` when there is none, or it is not applied. */
function ignoreText(path: string, tally: FileTally): string | undefined {
  try {
    const bytes = readRegular(path, maxFileBytes);
    if (bytes !== 'large') return bytes.toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  }
  tally.ignoreFiles += 1;
  return undefined;
}

/** The rules nearest to the file decide, as far as they say anything. */
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
