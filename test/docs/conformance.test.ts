import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const readText = (path: string) => readFileSync(new URL(path, root), 'utf8');

interface Row {
  readonly id: string;
  readonly evidence: string;
}

/** Returns the rows of the tables below a heading, up to the next heading of the same level. */
function rowsBelow(path: string, heading: string): readonly Row[] {
  const [, section = ''] = readText(path).split(`\n## ${heading}\n`);
  return section
    .split(/^## /m)[0]!
    .split('\n')
    .filter((line) => /^\| \d/.test(line))
    .map((line) => {
      const [id = '', ...cells] = line.slice(2, -2).split(' | ');
      return { id, evidence: cells.at(-1) ?? '' };
    });
}

const reference = /`(test\/[^`]+)`((?: “[^”]+”,?)+)/g;

/** Returns the tests that a row refers to. */
function listTests({ evidence }: Row): readonly (readonly [file: string, title: string])[] {
  return Array.from(evidence.matchAll(reference), ([, file = '', titles = '']) =>
    Array.from(titles.matchAll(/“([^”]+)”/g), ([, title = '']) => [file, title] as const),
  ).flat();
}

/** Returns the text of a test file with unescaped quotes, so that its titles match the titles in the docs. */
function readSource(file: string): string {
  return readText(file).replaceAll("\\'", "'");
}

const tables = [
  ['docs/oauth.md', 'RFC 9700 and OAuth 2.1'],
  ['docs/security.md', 'OWASP ASVS 5.0, level 2'],
] as const;

describe.each(tables)('%s, %s', (path, heading) => {
  const rows = rowsBelow(path, heading);

  test('each requirement refers to a test, a section or a reason', () => {
    expect(rows.length).toBeGreaterThan(20);
    const empty = rows.filter(
      (row) => listTests(row).length === 0 && !/Declined: |Not applicable: |\]\([\w./]*#[\w-]+\)/.test(row.evidence),
    );
    expect(empty).toEqual([]);
  });

  test('each test that a requirement refers to exists', () => {
    const named = rows.flatMap(listTests);
    const unknown = named.filter(([file, title]) =>
      ["'", '"', '`'].every((quote) => !readSource(file).includes(`${quote}${title}${quote}`)),
    );
    expect(unknown).toEqual([]);
  });
});
/** The requirements of ASVS levels 1 and 2, by chapter and section, with their numbers. */
const asvs = {
  '6.1': [1, 2, 3],
  '6.2': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  '6.3': [1, 2, 3, 4],
  '6.4': [1, 2, 3, 4],
  '6.5': [1, 2, 3, 4, 5],
  '6.6': [1, 2, 3],
  '6.8': [1, 2, 3, 4],
  '7.1': [1, 2, 3],
  '7.2': [1, 2, 3, 4],
  '7.3': [1, 2],
  '7.4': [1, 2, 3, 4, 5],
  '7.5': [1, 2],
  '7.6': [1, 2],
  '8.1': [1, 2],
  '8.2': [1, 2, 3],
  '8.3': [1],
  '8.4': [1],
  '9.1': [1, 2, 3],
  '9.2': [1, 2, 3, 4],
  '10.1': [1, 2],
  '10.2': [1, 2],
  '10.3': [1, 2, 3, 4],
  '10.4': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  '10.5': [1, 2, 3, 4, 5],
  '10.6': [1, 2],
  '10.7': [1, 2, 3],
};

test('docs/security.md has every requirement of ASVS, chapters 6 to 10, levels 1 and 2', () => {
  const wanted = Object.entries(asvs).flatMap(([section, numbers]) => numbers.map((number) => `${section}.${number}`));
  expect(rowsBelow('docs/security.md', 'OWASP ASVS 5.0, level 2').map(({ id }) => id)).toEqual(wanted);
});
