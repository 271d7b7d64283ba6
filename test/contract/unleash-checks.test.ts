import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutVariant } from '../../src/contract/unleash-checks.ts';

/** Check of a flag. An SDK adds it to `yes` or `no` of the bucket, and to the variant if the SDK serves one. */
const check = fc.record({ enabled: fc.boolean(), served: fc.boolean() });

test('withoutVariant counts each check once, and reduces the enabled count only for a disabled check with a variant', () => {
  fc.assert(
    fc.property(fc.array(check), (checks) => {
      let yes = 0;
      let no = 0;
      let served = 0;
      let before = withoutVariant(yes, no, served);
      for (const [index, each] of checks.entries()) {
        if (each.enabled) yes += 1;
        else no += 1;
        if (each.served) served += 1;
        const now = withoutVariant(yes, no, served);
        expect(now.enabled + now.disabled + served).toBe(index + 1);
        expect(now.disabled).toBeGreaterThanOrEqual(before.disabled);
        if (each.enabled || !each.served) expect(now.enabled).toBeGreaterThanOrEqual(before.enabled);
        before = now;
      }
    }),
  );
});
