import { Refusal } from '../contract/errors.ts';
import type { Factor } from '../contract/sign-in.ts';
import type { Totp } from '../storage/lmdb/auth-records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { mustExist } from './checks.ts';
import type { DirectorySources } from './directory.ts';
import { describeTarget } from './members.ts';
import { listPasskeys, removePasskey } from './passkeys.ts';
import { newPassword } from './passwords.ts';
import { hashSecret, matchesHash, type RandomBytes } from './secrets.ts';
import type { Reader } from './store/account-store.ts';

/** Number of recovery codes per user. A plain hash needs 112 random bits (OWASP ASVS 5.0, 6.5.2); a code has 125. */
const recoveryCodeCount = 10;
const recoveryCodeGroups = 5;

export function listSecondFactors(reader: Pick<Reader, 'get' | 'keys'>, userId: string): readonly Factor[] {
  const totp = reader.get('totp', userId);
  return [
    ...(totp === undefined ? [] : (['totp'] as const)),
    ...(totp === undefined || totp.recoveryCodes.length === 0 ? [] : (['recovery-code'] as const)),
    ...(listPasskeys(reader, userId).length === 0 ? [] : (['passkey'] as const)),
  ];
}

export interface Enrolment {
  readonly secret: string;
  readonly code: string;
}

/**
 * Adds an authenticator app to a user in a transaction.
 * @returns the new recovery codes, which are shown once; `undefined` if the code is wrong
 * @throws {Refusal} `conflict` if the user already has an authenticator app
 */
export function addTotp(
  { clock, randomBytes }: DirectorySources,
  totps: Totps,
  tx: AccountTransaction,
  userId: string,
  { secret, code }: Enrolment,
): readonly string[] | undefined {
  const user = mustExist('user', tx.users.get(userId));
  if (tx.has('totp', userId)) throw new Refusal('conflict', hasTotp);
  const now = clock.now();
  const lastStep = totps.findStep(secret, code, now);
  if (lastStep === undefined) return undefined;
  const { shown, hashes } = newRecoveryCodes(randomBytes);
  const record = { userId, secret, createdAt: now, lastStep, lastUsedAt: now, recoveryCodes: hashes };
  tx.put('totp', userId, record);
  for (const teamId of user.teams) tx.note('totp.added', teamId, describeTarget(user));
  return shown;
}

const hasTotp = 'The user already has an authenticator app; remove it first';

/**
 * Uses a code or a recovery code in a transaction. Each code is accepted only once.
 * @returns the proven factor; `undefined` if the code is wrong or was used
 */
export function acceptCode(
  { clock }: Pick<DirectorySources, 'clock'>,
  totps: Totps,
  tx: AccountTransaction,
  userId: string,
  typed: string,
): 'totp' | 'recovery-code' | undefined {
  const totp = tx.get('totp', userId);
  if (totp === undefined) return undefined;
  const now = clock.now();
  const step = totps.findStep(totp.secret, typed, now);
  if (step !== undefined) {
    if (step <= totp.lastStep) return undefined;
    tx.put('totp', userId, { ...totp, lastStep: step, lastUsedAt: now });
    return 'totp';
  }
  const recoveryCodes = totp.recoveryCodes.filter((hash) => !matchesHash(plain(typed), hash));
  if (recoveryCodes.length === totp.recoveryCodes.length) return undefined;
  tx.put('totp', userId, { ...totp, recoveryCodes });
  noteFor(tx, 'recovery-code.used', userId);
  return 'recovery-code';
}

/** @throws {Refusal} `not_found` */
export function removeTotp(tx: AccountTransaction, userId: string): void {
  mustExist('authenticator app', tx.get('totp', userId));
  tx.remove('totp', userId);
  noteFor(tx, 'totp.removed', userId);
}

export function removeSecondFactors(tx: AccountTransaction, userId: string): void {
  if (tx.has('totp', userId)) removeTotp(tx, userId);
  const user = tx.users.get(userId);
  for (const [id] of listPasskeys(tx, userId)) if (user !== undefined) removePasskey(tx, user, id);
}

/** Replaces the recovery codes of a user. @throws {Refusal} `not_found` without an authenticator app */
export function renewRecoveryCodes(
  tx: AccountTransaction,
  userId: string,
  randomBytes: RandomBytes,
): readonly string[] {
  const totp: Totp = mustExist('authenticator app', tx.get('totp', userId));
  const { shown, hashes } = newRecoveryCodes(randomBytes);
  tx.put('totp', userId, { ...totp, recoveryCodes: hashes });
  noteFor(tx, 'recovery-codes.regenerated', userId);
  return shown;
}

function newRecoveryCodes(randomBytes: RandomBytes) {
  const shown = Array.from({ length: recoveryCodeCount }, () => newPassword(randomBytes, recoveryCodeGroups));
  return { shown, hashes: shown.map((code) => hashSecret(plain(code))) };
}

/** Converts a recovery code to lower case without separators, because people type codes in different ways. */
function plain(typed: string): string {
  return typed.toLowerCase().replace(/[\s-]/g, '');
}

function noteFor(
  tx: AccountTransaction,
  action: 'totp.removed' | 'recovery-code.used' | 'recovery-codes.regenerated',
  userId: string,
): void {
  const user = tx.users.get(userId);
  for (const teamId of user?.teams ?? []) tx.note(action, teamId, describeTarget(user!));
}

/** Time-based one-time passwords (RFC 6238) of authenticator apps: six digits, a new code every 30 s. */
interface Totps {
  /** Generates a secret: 160 random bits (RFC 4226 §4), base32. */
  newSecret(): string;
  /** The URI from which an authenticator app reads the secret. @param account name of the user in the app */
  createUri(secret: string, issuer: string, account: string): string;
  /**
   * Returns the time step of a code, which may be one step early or late (RFC 6238 §5.2); `undefined` if the code is
   * not valid now.
   * @param now Unix ms
   */
  findStep(secret: string, code: string, now: number): number | undefined;
}

const periodSeconds = 30;
const toleratedSteps = 1;

export async function loadTotps(randomBytes: RandomBytes): Promise<Totps> {
  const { Secret, TOTP } = await import('otpauth');
  return {
    newSecret: () => new Secret({ buffer: new Uint8Array(randomBytes(20)).buffer }).base32,
    createUri: (secret, issuer, account) => new TOTP({ secret, issuer, label: account }).toString(),
    findStep(secret, code, now) {
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
