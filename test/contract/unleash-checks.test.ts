import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutVariant } from '../../src/contract/unleash-checks.ts';

/** A check, which an SDK adds to `yes` or `no` of the bucket, and also to the variant if the SDK serves one. */
const check = fc.record({ enabled: fc.boolean(), served: fc.boolean() });

test('each check of an Unleash flag counts once, and only fallback variants reduce the enabled checks', () => {
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
