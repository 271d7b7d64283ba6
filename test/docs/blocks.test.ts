import { spawnSync } from 'node:child_process';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { documents, listBlocks } from '../support/docs.ts';

/**
 * Parses every code block of the docs. `names.test.ts` checks the commands in the blocks with the table of commands.
 * `test/binary/documented-commands.test.ts` runs the shell commands, or names the test that runs them. Other tests run the
 * sample programs, and the examples of proxies and services.
 */

/** Parsers of code blocks by language. They throw an error if the code is not valid. */
const parsers: Readonly<Record<string, (code: string) => void>> = {
  '': () => undefined, // diagrams and output of commands
  html: (code) => expect(listTags(code)).toEqual([]),
  ini: (code) => expect(code.trim().split('\n').filter(isNoSetting)).toEqual([]),
  js: (code) => void parseAst(code),
  json: (code) => JSON.parse(code),
  nginx: (code) => expect(code.trim().split('\n').filter(isNoDirective)).toEqual([]),
  python: (code) => check('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], code),
  sh: (code) => check('bash', ['-n'], code),
  sql: (code) => expect(splitStatements(code).filter((statement) => !/^[A-Z]/i.test(statement))).toEqual([]),
  ts: (code) => void parseAst(code, { lang: 'tsx' }),
  yaml: (code) => expect(parseAllDocuments(code).flatMap(({ errors }) => errors.map(String))).toEqual([]),
};

/** Passes a text to a program that only parses it. A program that is not installed accepts every text. */
function check(program: string, options: readonly string[], input: string): void {
  const { error, status, stderr } = spawnSync(program, options, { input, encoding: 'utf8' });
  if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

/** Returns the tags that are not closed, or not opened. */
function listTags(code: string): readonly string[] {
  const open: string[] = [];
  for (const [, slash, name = ''] of code.matchAll(/<(\/?)([a-z][\w-]*)[^>]*>/g))
    if (slash === '') open.push(name);
    else if (open.pop() !== name) return [`</${name}>`];
  return open;
}

const isNoSetting = (line: string) => !/^(\[\w+\]|[A-Z]\w+=.*|#.*|)$/.test(line);

const isNoDirective = (line: string) => !/(^|[;{}])\s*(#.*)?$/.test(line);

function splitStatements(code: string): readonly string[] {
  const statements = code.replaceAll(/--.*$/gm, '').split(';');
  expect(statements.pop()?.trim(), 'the last statement ends with a semicolon').toBe('');
  return statements.map((statement) => statement.trim());
}

const blocks = documents.flatMap(({ path, text }) =>
  listBlocks(text).map(({ language, code, line }) => ({ language, code, place: `${path}:${line}` })),
);

describe('code blocks of the docs', () => {
  test('code blocks have a language that the tests parse', () => {
    expect(blocks.length).toBeGreaterThan(40);
    expect(blocks.filter(({ language }) => !(language in parsers))).toEqual([]);
  });

  test.each(Object.keys(parsers))('code blocks in the language "%s" are valid', (wanted) => {
    for (const { language, code, place } of blocks)
      if (language === wanted) expect(() => parsers[language]!(code), `${place}\n${code}`).not.toThrow();
  });

  test('invalid code blocks are rejected', () => {
    const invalid = [
      ['html', '<p><b>text</p>'],
      ['ini', '[Service]\nNo setting'],
      ['js', 'const = 1;'],
      ['json', '{'],
      ['nginx', 'location / {\n  proxy_pass http://localhost\n}'],
      ['sh', 'if true; then'],
      ['sql', 'SELECT 1'],
      ['ts', 'const x: = 1;'],
      ['yaml', 'a: [1'],
    ] as const;
    for (const [language, code] of invalid) expect(() => parsers[language]!(code), language).toThrow();
  });
});
