import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseSize, showSize } from '../../src/runtime/size.ts';

it('parseSize parses every size that showSize formats', () => {
  fc.assert(fc.property(fc.maxSafeNat(), (bytes) => parseSize(showSize(bytes), true) === bytes));
});

it.each([
  [0, '0'],
  [1_000, '1000'],
  [65_536, '64KiB'],
  [1_073_741_824, '1GiB'],
])('showSize formats %i bytes as %s', (bytes, text) => {
  expect(showSize(bytes)).toBe(text);
});

it.each(['', ' 1', '1e3', '0x10', '1 KiB', '1kb', '-1', null, [1, 2]])('parseSize rejects %j as a size', (raw) => {
  expect(parseSize(raw, true)).toBeNaN();
});
