import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NameFinder, usualCalls } from '../../../src/cli/scan/names-in-text.ts';

const odd = ['two words', 'a+b(c)*', 'end.', '[x]', '😀 on'];
const known = new Set(['checkout', 'dark-mode', 'search.v2', 'Größe', 'a/b', ...odd]);
const finder = new NameFinder(known, [...usualCalls, 'flag', 'ask$']);

test.each([
  ["if (client.isEnabled('checkout')) {", ['call checkout', 'quoted checkout']],
  ['client.IsEnabled("newer")', ['call newer']],
  ['await flags.getVariant<Theme>( "unknown one" )', ['call unknown one']],
  ['flag(`plain`)', ['call plain']],
  [`flag(\`of-\${user}\`)`, []],
  ['flag("say \\"x\\"")', []],
  ['unrelated("newer")', []],
  ['isEnabled(name)', []],
  ['- flag: dark-mode', ['word dark-mode']],
  ['enum Flag { checkout, other }', ['word checkout']],
  ['flags.checkout && flags["dark-mode"]', ['word checkout', 'quoted dark-mode']],
  ['use search.v2 here', ['word search.v2']],
  ["path 'two words'", ['quoted two words']],
  ['/* Größe: */', ['word Größe']],
  ['x = a/b', ['word a/b']],
  ['checkouts precheckout', []],
  ['isEnabledForAll("newer"), notAsk$("newer"), ask$("newer")', ['call newer']],
  ["// don't: isEnabled('newer')", ['call newer']],
  ['app.search.v2.on, shop/a/b', ['word search.v2', 'word a/b']],
  ['- a+b(c)*: 1', ['word a+b(c)*']],
  ['aaa+b(c)*', []],
  ["the end. ['[x]']", ['word end.', 'quoted [x]']],
  ['two wordsmiths', []],
  ['`😀 on`', ['quoted 😀 on']],
  ['isEnabled(\n      "newer",\n)', ['call newer']],
  [`isEnabled("${'x'.repeat(257)}")`, []],
  ["it's the checkout, isn't it", ['word checkout']],
])('NameFinder finds the feature names in the code %s', (text, expected) => {
  const found = Array.from(finder.in(text), ({ name, index, as }) => {
    expect(text.slice(index, index + name.length)).toBe(name);
    return `${as} ${name}`;
  });
  expect(found).toEqual(expected);
});

test.each([
  ['escaped quotes', '\\"'.repeat(300_000)],
  ['an unclosed quote', `flag("${"\\'".repeat(300_000)}`],
  ['a call without an argument', `flag${' '.repeat(600_000)}`],
  ['words with dots', 'checkout.'.repeat(100_000)],
])('NameFinder scans a long line with %s only once', (_, line) => {
  const names = new Set(Array.from(finder.in(`${line}; flag("newer")`), ({ name }) => name));
  expect([...names].filter((name) => name !== 'checkout')).toEqual(['newer']);
});

test('NameFinder finds any known name between spaces, but not within another word', () => {
  const name = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).filter((each) => !/\s/.test(each));
  fc.assert(
    fc.property(name, (name) => {
      const finder = new NameFinder(new Set([name]), usualCalls);
      const found = (text: string) => [...finder.in(text)].some((each) => each.name === name);
      expect(found(`x ${name} y`)).toBe(true);
      expect(found(`q("${name}")`)).toBe(true);
      if (/^\w+$/.test(name)) expect(found(`x${name}_y`)).toBe(false);
    }),
  );
});
