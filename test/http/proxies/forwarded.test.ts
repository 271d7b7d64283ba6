import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forwardedForNodes, forwardedNodes } from '../../../src/http/client-address.ts';

const gap = undefined;

test.each([
  ['for=192.0.2.1', ['192.0.2.1']],
  ['For=192.0.2.1;proto=https', ['192.0.2.1']],
  ['proto=https; for="[2001:db8::1]:4711" ;by=_gate', ['[2001:db8::1]:4711']],
  ['for=192.0.2.1, for=198.51.100.2', ['198.51.100.2', '192.0.2.1']],
  ['for=192.0.2.1,,\t, ;;for=198.51.100.2;', ['198.51.100.2', '192.0.2.1']],
  ['for=unknown, for=_hidden', ['_hidden', 'unknown']],
  ['for=192.0.2.1:4711', ['192.0.2.1:4711']],
  ['for="1\\"2\\\\"', ['1"2\\']],
  ['for=a;host="b, for=c;\\"d"', ['a']],
  ['for=a, proto=https', [gap]],
  ['for=a, for=b;for=c', [gap]],
  ['for=a, for', [gap]],
  ['for=a, for=', [gap]],
  ['for=a, =b', [gap]],
  ['for=a, for = b', [gap]],
  ['for=a, for="b', [gap]],
  [String.raw`for=a, for="b\"`, [gap]],
  ['for=a, for="b"c', [gap]],
  ['for=a for=b', [gap]],
  ['for="a, for=b', ['b', gap]],
  ['"', [gap]],
  ['', []],
  [' , ;', []],
])('forwardedNodes reads the header %s', (text, nodes) => {
  expect([...forwardedNodes(text)]).toEqual(nodes);
});

test.each([
  ['192.0.2.1', ['192.0.2.1']],
  ['192.0.2.1, 198.51.100.2', ['198.51.100.2', '192.0.2.1']],
  ['a,b ,\tc', ['c', 'b', 'a']],
  [',, a ,,', ['a']],
  ['', []],
  [' ', []],
])('forwardedForNodes reads the header %s', (text, nodes) => {
  expect([...forwardedForNodes(text)]).toEqual(nodes);
});

/** A name and a value in a Forwarded element. The value can need quotes. */
const quoted = fc.string({ unit: 'grapheme' }).map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
const word = fc.stringMatching(/^[\w.!#$%&'*+^`|~-]+$/);
const names = fc.constantFrom('by', 'host', 'proto', 'secret', 'x');
const pair = fc.tuple(names, fc.oneof(word, quoted)).map((both) => both.join('='));
const nodeText = fc.oneof(
  fc.ipV4(),
  fc.ipV6().map((address) => `"[${address}]:80"`),
  fc.constant('unknown'),
);
const element = fc
  .tuple(fc.array(pair), nodeText, fc.array(pair), fc.constantFrom(';', ' ; '))
  .map(([before, node, after, between]) => ({
    node: node.replaceAll('"', ''),
    text: [...before, `for=${node}`, ...after].join(between),
  }));

test('forwardedNodes returns the elements of Forwarded in reverse order', () => {
  fc.assert(
    fc.property(fc.array(element), (elements) => {
      const text = elements.map((each) => each.text).join(', ');
      expect([...forwardedNodes(text)]).toEqual(elements.map(({ node }) => node).reverse());
    }),
  );
});

/** Header text that a client can send, with all special characters. */
const sent = fc.oneof(fc.string({ unit: fc.constantFrom(...'",;=\\ \tfor.1:[]') }), fc.string({ unit: 'binary' }));

test('Forwarded text that a client sends never changes the elements that proxies append', () => {
  fc.assert(
    fc.property(sent, fc.array(element, { minLength: 1 }), (before, elements) => {
      const text = [before, ...elements.map((each) => each.text)].join(', ');
      const nodes = [...forwardedNodes(text)].slice(0, elements.length);
      expect(nodes).toEqual(elements.map(({ node }) => node).reverse());
    }),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(sent, fc.array(fc.ipV4(), { minLength: 1 }), (before, added) => {
      const nodes = [...forwardedForNodes([before, ...added].join(', '))];
      expect(nodes.slice(0, added.length)).toEqual(added.toReversed());
    }),
  );
});

test('forwardedNodes takes linear time', () => {
  const long = 1_000_000;
  for (const text of ['"', '"\\', ',', ';', 'a=",', '\\"', 'a="",', ' ', '=', '\\'])
    expect([...forwardedNodes(text.repeat(long / text.length))].length).toBeLessThanOrEqual(long);
});
