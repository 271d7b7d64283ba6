import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isName } from '../../src/contract/names.ts';

/** Checks a name against the same rules as `isName`, with simple and slow code. */
function isNameNaively(text: string): boolean {
  const bytes = new TextEncoder().encode(text).length;
  const controls = [...text].some((character) => /\p{Cc}/u.test(character));
  const lone = [...text].some((character) => /^[\ud800-\udfff]$/.test(character));
  return bytes >= 1 && bytes <= 256 && !controls && !lone;
}

test.each([
  ['a', true],
  ['', false],
  ['__proto__', true],
  ['two words', true],
  ['a'.repeat(256), true],
  ['a'.repeat(257), false],
  ['é'.repeat(128), true],
  ['é'.repeat(129), false],
  ['€'.repeat(85), true],
  ['€'.repeat(86), false],
  ['🙂'.repeat(64), true],
  ['🙂'.repeat(65), false],
  ['tab\t', false],
  ['del\x7f', false],
  ['é\x85', false],
  ['\xa0', true],
  ['\ud800', false],
  ['\udc00', false],
  ['\ud800\ud800\udc00', false],
  ['é\n', false],
])('isName(%j) is %s', (text, expected) => {
  expect(isName(text)).toBe(expected);
});

test('isName and a naive implementation return the same result for any text', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0xff }),
    fc.constantFrom(0x7f, 0x80, 0x9f, 0xa0, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff),
    fc.integer({ min: 0x20, max: 0x7e }),
  );
  const anyUnits = fc.array(unit, { maxLength: 12 }).map((units) => String.fromCharCode(...units));
  const longNames = fc.string({ unit: fc.constantFrom('a', 'é', '€', '🙂'), minLength: 50, maxLength: 260 });
  fc.assert(
    fc.property(fc.oneof(anyUnits, longNames), (text) => isName(text) === isNameNaively(text)),
    { numRuns: 2000 },
  );
});
