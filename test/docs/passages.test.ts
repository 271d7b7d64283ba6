import { expect, test } from 'vitest';
import { type DocsFile, documents, withoutBlocks } from '../support/docs.ts';

/** Words of a passage that two documents must not share. */
const size = 10;

/** Returns the words of each paragraph, list item and heading. Code spans are one word, and tables are left out. */
function listParagraphs(text: string): readonly string[][] {
  return withoutBlocks(text)
    .replaceAll(/^\|.*$/gm, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|#+) )/)
    .map((paragraph) =>
      paragraph
        .replaceAll(/`([^`]+)`/g, (_, span: string) => span.replaceAll(/\s+/g, '\u0001'))
        .replaceAll(/\]\([^)]*\)/g, '')
        .toLowerCase()
        .split(/\s+/)
        .map((word) => word.replaceAll(/^[^\p{L}\p{N}-]+|[^\p{L}\p{N}]+$/gu, ''))
        .filter((word) => word !== ''),
    );
}

/** Finds the longest passages that two documents share, as `first, second: passage`. */
function findShared(files: readonly DocsFile[]): readonly string[] {
  const owners = new Map<string, string>();
  const found: string[] = [];
  for (const { path, text } of files)
    for (const words of listParagraphs(text)) {
      let end = 0;
      for (let at = 0; at + size <= words.length; at++) {
        const passage = words.slice(at, at + size).join(' ');
        const owner = owners.get(passage);
        if (owner === undefined) owners.set(passage, path);
        else if (owner !== path) {
          // A longer passage consists of overlapping passages, of which only the first one is reported.
          if (at >= end) found.push(`${owner}, ${path}: ${passage}`);
          end = at + size;
        }
      }
    }
  return found;
}

test('no passage of ten words appears in two documents', () => {
  expect(findShared(documents)).toEqual([]);
});

test('a passage that two documents share is found across lines, but not in code or tables', () => {
  const words = 'one two three four five six seven `eight 8` nine ten';
  const first = { path: 'a.md', text: `# A\n\nText: ${words.replace('five ', 'five\n')} eleven.` };
  expect(findShared([first, { path: 'b.md', text: `- ${words}!` }])).toHaveLength(1);
  expect(findShared([first, { path: 'b.md', text: `| ${words} |\n\n\`\`\`sh\n${words}\n\`\`\`\n` }])).toEqual([]);
});
