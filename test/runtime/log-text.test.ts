import { expect, test } from 'vitest';
import { createLog, type LogFields } from '../../src/runtime/log.ts';

function written(message: string, fields: LogFields = {}): string {
  const lines: string[] = [];
  createLog('info', (line) => void lines.push(line), { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) }, 'text').warn(
    message,
    fields,
  );
  return lines.join('');
}

const head = '2026-01-02T03:04:05.000Z WARN ';

test.each<[string, LogFields, string]>([
  ['no fields', {}, ''],
  [
    'words and numbers',
    { data: './flagmeter-data', ms: 12.5, ready: true },
    ' data=./flagmeter-data ms=12.5 ready=true',
  ],
  ['missing values', { code: undefined, reason: null }, ' reason=null'],
  ['several words', { hint: 'put it back' }, ' hint="put it back"'],
  ['an empty text', { reason: '' }, ' reason=""'],
  ['a list', { names: ['a', 'b'] }, ' names=["a","b"]'],
  ['a secret', { clientSecret: 'x', key: 'y' }, ' clientSecret="[redacted]" key="[redacted]"'],
])('the log formats a line of text with %s', (_, fields, expected) => {
  expect(written('a commit was slow', fields)).toBe(`${head} a commit was slow${expected}\n`);
});

test('the log formats an error with its causes, and its stack on separate lines', () => {
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
  ['a change of text direction', 'a\u202eb', '"a\\u202eb"'],
])('the log escapes %s in a field of a line', (_, text, shown) => {
  expect(written('x', { text })).toBe(`${head} x text=${shown}\n`);
});

test('the log escapes a line feed in the name of a field', () => {
  expect(written('x', { 'a\nb': 1 }).trim().split('\n')).toHaveLength(1);
});
