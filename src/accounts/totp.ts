import type { RandomBytes } from './secrets.ts';

/** Time-based one-time passwords (RFC 6238) of authenticator apps: six digits, a new code every 30 s. */
export interface Totps {
  /** 160 random bits (RFC 4226 §4), base32. */
  newSecret(): string;
  /** The URI from which an authenticator app reads the secret. @param account the name of the user there */
  uriOf(secret: string, issuer: string, account: string): string;
  /**
   * The time step of a code that is valid now, one step early or one step late (RFC 6238 §5.2); `undefined` if there is none.
   * @param now Unix ms
   */
  stepOf(secret: string, code: string, now: number): number | undefined;
}

const periodSeconds = 30;
const toleratedSteps = 1;

export async function loadTotps(randomBytes: RandomBytes): Promise<Totps> {
  const { Secret, TOTP } = await import('otpauth');
  return {
    newSecret: () => new Secret({ buffer: new Uint8Array(randomBytes(20)).buffer }).base32,
    uriOf: (secret, issuer, account) => new TOTP({ secret, issuer, label: account }).toString(),
    stepOf(secret, code, now) {
      const token = code.replace(/\s/g, '');
      if (!/^\d{6}$/.test(token)) return undefined;
      const found = TOTP.validate({
        token,
        secret: Secret.fromBase32(secret),
        window: toleratedSteps,
        period: periodSeconds,
        timestamp: now,
      });
      return found === null ? undefined : Math.floor(now / 1000 / periodSeconds) + found;
    },
  };
}
