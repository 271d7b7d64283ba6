import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../chaos/clients/ask.ts';
import { Digits } from '../../chaos/clients/digits.ts';

const outcomes = fc.array(fc.constantFrom<Outcome>('accepted', 'refused', 'unknown'), { maxLength: Digits.most });

function createDigits(all: readonly Outcome[]): Digits {
  const digits = new Digits();
  for (const outcome of all) digits.next().outcome = outcome;
  return digits;
}

/** Returns the sum in which each request was counted the given number of times. */
function computeSum(times: readonly number[]): number {
  return times.reduce((sum, count, index) => sum + count * 4 ** index, 0);
}

describe('Digits', () => {
  it('Digits accepts a sum only if each request was counted an allowed number of times', () => {
    const requests = outcomes.chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: all.length, maxLength: all.length }),
      ),
    );
    fc.assert(
      fc.property(requests, ([all, times]) => {
        const may = { accepted: [1], refused: [0], unknown: [0, 1] };
        const wrong = all.flatMap((outcome, index) => (may[outcome].includes(times[index]!) ? [] : [index]));
        const faults = createDigits(all).faults(computeSum(times));
        expect(faults.map((fault) => Number(/^request (\d+)/.exec(fault)?.[1]))).toEqual(wrong);
      }),
    );
  });

  it('Digits returns the number of requests in a sum', () => {
    expect(createDigits(['accepted', 'unknown', 'unknown']).countedIn(computeSum([1, 0, 1]))).toBe(2);
  });

  it('Digits rejects a sum that is larger than the sum of all requests', () => {
    expect(createDigits(['accepted']).faults(5)).toEqual(['the sum 5 is more than 1 requests can add up to']);
  });

  it('Digits supports fifteen requests in one count', () => {
    const digits = createDigits(Array.from({ length: Digits.most }, () => 'accepted' as const));
    expect(digits.isFull).toBe(true);
    expect(digits.requests.reduce((sum, { count }) => sum + count, 0)).toBeLessThan(2 ** 31);
  });
});
