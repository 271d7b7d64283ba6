import { expect, test } from 'vitest';
import { namesIn, usualCalls } from '../../../src/cli/scan/names-in-text.ts';

const known = new Set(['checkout', 'dark-mode', 'search.v2', 'Größe', 'two words', 'a/b']);
const calls = new Set([...usualCalls, 'flag']);

test.each([
  ["if (client.isEnabled('checkout')) {", ['call checkout', 'word checkout']],
  ['client.IsEnabled("newer")', ['call newer']],
  ['await flags.getVariant<Theme>( "unknown one" )', ['call unknown one']],
  ['flag(`plain`)', ['call plain']],
  [`flag(\`of-\${user}\`)`, []],
  ['flag("say \\"x\\"")', []],
  ['unrelated("newer")', []],
  ['isEnabled(name)', []],
  ['- flag: dark-mode', ['word dark-mode']],
  ['enum Flag { checkout, other }', ['word checkout']],
  ['flags.checkout && flags["dark-mode"]', ['quoted dark-mode', 'word checkout', 'word dark-mode']],
  ['use search.v2 here', ['word search.v2']],
  ["path 'two words'", ['quoted two words']],
  ['/* Größe: */', ['word Größe']],
  ['x = a/b', ['word a/b']],
  ['checkouts precheckout', []],
  ["it's the checkout, isn't it", ['word checkout']],
])('%s', (text, expected) => {
  const found = Array.from(namesIn(text, known, calls), ({ name, index, as }) => {
    expect(text.slice(index, index + name.length)).toBe(name);
    return `${as} ${name}`;
  });
  expect(found).toEqual(expected);
});

test('a line of escaped quotes is read once, not once for each', () => {
  const text = `${'\\"'.repeat(300_000)} flag("newer")`;
  expect(Array.from(namesIn(text, known, calls), ({ name }) => name)).toEqual(['newer']);
});
