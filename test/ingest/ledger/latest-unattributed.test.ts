import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Claim, maxKinds, UnattributedRefusals } from '../../../src/ingest/ledger/ledger.ts';

const source = { route: 'telemetry', transport: 'http', userAgent: 'shop/1' } as const;
const key = `fm_fe_${'1234567890'.repeat(4)}`;

test('equal refusals are counted together, and the latest refusal comes first', () => {
  const latestUnattributed = new UnattributedRefusals();
  latestUnattributed.add('unknown_key', source, { appKey: key, environment: 'Production' }, 1);
  latestUnattributed.add('unknown_key', source, { appKey: key, environment: 'Staging' }, 2);
  latestUnattributed.add('unknown_key', source, { appKey: key, environment: 'Production' }, 3);
  const kind = { code: 'unknown_key', ...source, keyPrefix: 'fm_fe_123456', origin: null };
  expect(latestUnattributed.latest).toEqual([
    { ...kind, environment: 'Production', count: 2, at: 3 },
    { ...kind, environment: 'Staging', count: 1, at: 2 },
  ]);
});

test.each([
  ['a key of this service', key, 'fm_fe_123456'],
  ['a secret key of this service', key.replace('_fe_', '_be_'), 'fm_be_123456'],
  ['a key that is cut off', 'fm_fe_12', 'fm_fe_12'],
  ['a client secret of this service', `fm_secret_${'a'.repeat(64)}`, 'fm_secret_aa'],
  ['a password', 'correct horse', null],
  ['a token', 'eyJhbGciOiJFUzI1NiJ9.e30.x', null],
  ['a placeholder', 'YOUR_KEY', null],
  ['a missing key', undefined, null],
])('the list of refusals shows at most a prefix of %s', (_, appKey, keyPrefix) => {
  const latestUnattributed = new UnattributedRefusals();
  latestUnattributed.add('unknown_key', source, { appKey }, 1);
  expect(latestUnattributed.latest[0]?.keyPrefix).toBe(keyPrefix);
});

test('the list of refusals shortens texts of unauthenticated senders, and never contains a complete key', () => {
  const text = fc.option(fc.oneof(fc.string({ maxLength: 3000 }), fc.constantFrom(key, `x ${key}`)), {
    nil: undefined,
  });
  const claim: fc.Arbitrary<Claim> = fc.record({ appKey: text, environment: text, origin: text });
  fc.assert(
    fc.property(fc.array(fc.tuple(claim, text), { maxLength: 200, size: 'max' }), (sent) => {
      const latestUnattributed = new UnattributedRefusals();
      for (const [at, [each, userAgent]] of sent.entries())
        latestUnattributed.add('unknown_key', { ...source, userAgent }, each, at);
      expect(latestUnattributed.latest.length).toBeLessThanOrEqual(maxKinds);
      const kept = JSON.stringify(latestUnattributed.latest);
      expect(kept.length).toBeLessThan(maxKinds * 6000);
      expect(kept).not.toContain(key);
      if (sent.length > 0) expect(latestUnattributed.latest[0]?.at).toBe(sent.length - 1);
    }),
    { numRuns: 30 },
  );
});
