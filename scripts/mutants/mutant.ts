import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A rule of the service, and the unit test that must fail without it. */
export interface Mutant {
  readonly file: string;
  /** The text that enforces the rule. This text must occur once in the file. */
  readonly text: string;
  /** The text that replaces the rule. */
  readonly without: string;
  /** The test file, and a part of the title of its test. */
  readonly test: string;
  readonly title: string;
}

/** Returns the content of a file without its rule. @throws {TypeError} if the text of the rule does not occur once */
export function withoutRule(source: string, { file, text, without }: Mutant): string {
  const parts = source.split(text);
  if (parts.length === 2) return parts.join(without);
  const count = parts.length - 1;
  throw new TypeError(
    `The text of a rule in scripts/mutants/table.ts must occur once in ${file}, but occurs ${count} times: ${text}`,
  );
}

/** Removes a rule in a tree. @returns a function that restores it */
export function removeRule(tree: string, mutant: Mutant): () => void {
  const path = join(tree, mutant.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, withoutRule(source, mutant));
  return () => writeFileSync(path, source);
}
