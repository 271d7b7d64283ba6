import { expect, test } from 'vitest';
import { createSarif } from '../../../src/cli/scan/sarif.ts';
import type { Finding } from '../../../src/cli/scan/scan.ts';

const finding: Finding = {
  kind: 'never_seen',
  name: 'a',
  declared: false,
  lastSeenAt: null,
  verdict: null,
  nearest: null,
  places: [],
  count: 0,
};

interface Sarif {
  readonly runs: readonly { readonly results: readonly { readonly message: { readonly text: string } }[] }[];
}

const findMessage = (more: Partial<Finding>) =>
  (createSarif([{ ...finding, ...more }]) as Sarif).runs[0]?.results[0]?.message.text;

test.each<[string, Partial<Finding>, string]>([
  ['a link', { name: '[x](http://evil.example)' }, '\\[x\\](http://evil.example) was never seen'],
  ['a backslash before a link', { name: '\\[x]' }, '\\\\\\[x\\] was never seen'],
  ['a link in the nearest name', { nearest: '[y](1)' }, 'a was never seen; the nearest known one is \\[y\\](1)'],
  ['a change of text direction', { name: 'a\u202eb' }, 'a\ufffdb was never seen'],
])('a SARIF message shows a name with %s as plain text', (_, more, text) => {
  expect(findMessage(more)).toBe(text);
});
