import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery } from '../../src/http/pairs.ts';

describe('parseQuery', () => {
  it.each([
    ['', []],
    [
      'a=1&b=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    ['a=1&a=2', [['a', '2']]],
    [
      'a&b=&=c',
      [
        ['a', ''],
        ['b', ''],
        ['', 'c'],
      ],
    ],
    ['&&a=1&', [['a', '1']]],
    ['a=b=c', [['a', 'b=c']]],
    ['a+b=c+d%2B', [['a b', 'c d+']]],
    ['%C3%A9=%E2%82%AC', [['é', '€']]],
    [
      '__proto__=1&constructor=2',
      [
        ['__proto__', '1'],
        ['constructor', '2'],
      ],
    ],
  ])('parseQuery reads the query %j', (query, expected) => {
    expect([...parseQuery(query)]).toEqual(expected);
  });

  it.each(['a=%', 'a=%1', 'a=%zz', '%ff=1', 'a=%c3', 'a=%ed%a0%80'])('parseQuery refuses %j', (query) => {
    expect(() => parseQuery(query)).toThrow(expect.objectContaining({ code: 'invalid_query' }));
  });

  it('parseQuery reads the output of URLSearchParams', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
        expect(parseQuery(String(new URLSearchParams(pairs)))).toEqual(new Map(pairs));
      }),
    );
  });

  it('parseQuery throws only refusals', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('%', '&', '=', '+', '2', 'f', 'c', '3', 'é') }), (query) => {
        try {
          parseQuery(query);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_query' });
        }
      }),
    );
  });
});
