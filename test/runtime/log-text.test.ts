import { expect, test } from 'vitest';
import { createLog, type LogFields } from '../../src/runtime/log.ts';

/** What the log writes as text. */
function written(message: string, fields: LogFields = {}): string {
  const lines: string[] = [];
  createLog(
    'info',
    (line) => void lines.push(line),
    { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) },
    'text',
  ).warn(message, fields);
  return lines.join('');
}

const head = '2026-01-02T03:04:05.000Z WARN ';

test.each<[string, LogFields, string]>([
  ['nothing', {}, ''],
  [
    'words and numbers',
    { data: './flagmeter-data', ms: 12.5, ready: true },
    ' data=./flagmeter-data ms=12.5 ready=true',
  ],
  ['what is missing', { code: undefined, reason: null }, ' reason=null'],
  ['several words', { hint: 'put it back' }, ' hint="put it back"'],
  ['an empty text', { reason: '' }, ' reason=""'],
  ['a list', { names: ['a', 'b'] }, ' names=["a","b"]'],
  ['a secret', { clientSecret: 'x', key: 'y' }, ' clientSecret="[redacted]" key="[redacted]"'],
])('a line with %s is read by people', (_, fields, expected) => {
  expect(written('a commit was slow', fields)).toBe(`${head} a commit was slow${expected}\n`);
});

test('an error tells what happened, why, and where on lines of its own', () => {
  const error = Object.assign(new Error('outer', { cause: new TypeError('inner') }), {
    stack: 'Error: outer\n    at here (a.ts:1:2)\n    at there (b.ts:3:4)',
  });
  expect(written('a request failed', { error })).toBe(
    `${head} a request failed error="Error: outer (cause: TypeError: inner)"\n` +
      '    at here (a.ts:1:2)\n    at there (b.ts:3:4)\n',
  );
});

test.each([
  ['a line feed', 'a\nb', '"a\\nb"'],
  ['an escape', 'a\u001b[31mb', '"a\\u001b[31mb"'],
  ['a C1 control', 'a\u009b31mb', '"a\\u009b31mb"'],
  ['a change of direction', 'a\u202eb', '"a\\u202eb"'],
])('%s in a field begins no line, and no terminal acts on it', (_, text, shown) => {
  expect(written('x', { text })).toBe(`${head} x text=${shown}\n`);
});

test('the name of a field cannot begin a line either', () => {
  expect(written('x', { 'a\nb': 1 }).trim().split('\n')).toHaveLength(1);
});
