import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const readText = (path: string) => readFileSync(new URL(path, root), 'utf8');

interface Row {
  readonly id: string;
  /** The last cell of the row. */
  readonly text: string;
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
      return { id, text: cells.at(-1) ?? '' };
    });
}

const reference = /`(test\/[^`]+)`((?: “[^”]+”,?)+)/g;

/** Returns the tests that a row refers to. */
function listTests({ text }: Row): readonly (readonly [file: string, title: string])[] {
  return Array.from(text.matchAll(reference), ([, file = '', titles = '']) =>
    Array.from(titles.matchAll(/“([^”]+)”/g), ([, title = '']) => [file, title] as const),
  ).flat();
}

/** Returns the text of a test file with unescaped quotes, so that its titles match the titles in the table. */
function readSource(file: string): string {
  return readText(file).replaceAll("\\'", "'");
}

describe.each(['RFC 9700', 'OAuth 2.1', 'OWASP ASVS 5.0'])('%s', (heading) => {
  const requirements = rowsBelow('docs/compliance.md', heading);
  const evidence = rowsBelow('test/docs/conformance.md', heading);

  test('docs/compliance.md and the table of tests have the same requirements', () => {
    expect(requirements.length).toBeGreaterThan(15);
    expect(evidence.map(({ id }) => id)).toEqual(requirements.map(({ id }) => id));
  });

  test('each requirement refers to a test, a section or a reason', () => {
    const met = requirements.filter(({ text }) => !/^(Declined|Not applicable): ./.test(text));
    expect(met.filter(({ text }) => !/^(Met$|Met: .|Partly: .)/.test(text))).toEqual([]);
    const untested = met.filter((row) => listTests(evidence[requirements.indexOf(row)]!).length === 0);
    expect(untested.filter(({ text }) => !/\]\([\w./-]+#[\w-]+\)/.test(text))).toEqual([]);
  });

  test('each test that a requirement refers to exists', () => {
    const unknown = evidence
      .flatMap(listTests)
      .filter(([file, title]) =>
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

test('docs/compliance.md has every requirement of ASVS, chapters 6 to 10, levels 1 and 2', () => {
  const wanted = Object.entries(asvs).flatMap(([section, numbers]) => numbers.map((number) => `${section}.${number}`));
  expect(rowsBelow('docs/compliance.md', 'OWASP ASVS 5.0').map(({ id }) => id)).toEqual(wanted);
});
