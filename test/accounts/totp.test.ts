import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Secret, TOTP } from 'otpauth';
import { describe, expect, it, test } from 'vitest';
import { loadTotps } from '../../src/accounts/second-factors.ts';

const totps = await loadTotps(randomBytes);
const periodMs = 30_000;
const codeAt = (secret: string, timestamp: number) => TOTP.generate({ secret: Secret.fromBase32(secret), timestamp });

describe('a time-based one-time password', () => {
  // RFC 6238, appendix B: SHA-1, the last six digits.
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
  ])('the one-time password %i s after the epoch is %s', (seconds, code) => {
    const secret = Secret.fromLatin1('12345678901234567890').base32;
    expect(totps.findStep(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it('a one-time password is accepted in its own time step, the previous step and the next step', () => {
    const secret = totps.newSecret();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 42 }), fc.integer({ min: -4, max: 4 }), (now, offset) => {
        const then = now + offset * periodMs;
        fc.pre(then >= 0);
        const steps = [-1, 0, 1].filter((step) => codeAt(secret, now + step * periodMs) === codeAt(secret, then));
        expect(totps.findStep(secret, codeAt(secret, then), now) !== undefined).toBe(steps.length > 0);
        if (Math.abs(offset) <= 1) expect(steps).toContain(offset);
      }),
      { numRuns: 200 },
    );
  });

  it.each(['', '12345', '1234567', 'abcdef', '１２３４５６', '-12345', '1e5', '0'.repeat(1000)])(
    'rejects the malformed one-time password %j',
    (code) => {
      expect(totps.findStep(totps.newSecret(), code, 0)).toBeUndefined();
    },
  );

  it('the secret of an authenticator app has 160 bits', () => {
    expect(totps.newSecret()).toMatch(/^[A-Z2-7]{32}$/);
  });
});
