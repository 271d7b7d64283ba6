import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyedLimits } from '../../../src/ingest/admission/rate-limits.ts';

test('each key has its own tokens', () => {
  const limits = new KeyedLimits(2, 2);
  expect([limits.take('a', 0), limits.take('a', 0), limits.take('a', 0), limits.take('b', 0)]).toEqual([
    0, 0, 0.5, 0,
  ]);
  expect(limits.take('a', 500)).toBe(0);
});

test('a rate of 0 disables the limit and keeps no buckets', () => {
  const limits = new KeyedLimits(0, 1);
  for (let at = 0; at < 100; at += 1) expect(limits.take('a', 0)).toBe(0);
  expect(limits.size).toBe(0);
});

test('limits memory for any number of keys, and keeps the bucket of the key in use', () => {
  const limits = new KeyedLimits(1, 1, 3);
  expect(limits.take('busy', 0)).toBe(0);
  for (let key = 0; key < 100; key += 1) {
    limits.take(`stranger ${key}`, 0);
    expect(limits.take('busy', 0)).toBeGreaterThan(0);
  }
  expect(limits.size).toBe(3);
});

test('keeps the most recently used keys, also after the limits have changed', () => {
  const max = 4;
  const uses = fc.array(fc.oneof(fc.nat(9), fc.constant('changed' as const)), { maxLength: 200 });
  fc.assert(
    fc.property(uses, (all) => {
      const limits = new KeyedLimits(1, 1, max);
      let rate = 1;
      let kept: string[] = [];
      for (const use of all) {
        if (use === 'changed') {
          rate += 1;
          limits.set(rate, 1);
          kept = [];
          continue;
        }
        const key = `key ${use}`;
        expect(limits.take(key, 0) > 0).toBe(kept.includes(key));
        kept = [...kept.filter((each) => each !== key), key].slice(-max);
        expect(limits.size).toBe(kept.length);
      }
    }),
  );
});
