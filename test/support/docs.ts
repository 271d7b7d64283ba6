import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The documents of the project: the docs, and the READMEs that the docs link to. */

export const root = join(import.meta.dirname, '../..');

export interface DocsFile {
  readonly path: string;
  readonly text: string;
}

export const documents: readonly DocsFile[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'chaos/README.md',
  'native/lmdb/README.md',
  'packaging/README.md',
  'src/storage/lmdb/README.md',
  'test/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`),
].map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const fence = /^( *)```(\w*)\n(.*?)^ *```$/gms;

export interface CodeBlock {
  /** Language after the fence, or `''`. */
  readonly language: string;
  readonly code: string;
  /** Number of the first line of the code in the document. */
  readonly line: number;
}

/** Returns the fenced blocks of a text, without their indentation. */
export function listBlocks(text: string): readonly CodeBlock[] {
  return Array.from(text.matchAll(fence), ({ index, 1: indent = '', 2: language = '', 3: code = '' }) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    line: text.slice(0, index).split('\n').length + 1,
  }));
}

/** Returns the code in a text: the lines of its fenced blocks, with continued lines joined, and its code spans. */
export function findCode(text: string): readonly string[] {
  const lines = listBlocks(text).flatMap(({ code }) => code.replaceAll(/\\\n\s*/g, '').split('\n'));
  const spans = [...withoutBlocks(text).matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  return [...lines, ...spans.map((span) => span.replace(/\s+/g, ' '))];
}

/** Returns a text without its fenced blocks. */
export function withoutBlocks(text: string): string {
  return text.replace(fence, '');
}
