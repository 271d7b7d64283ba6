import { ApiError } from '../contract/errors.ts';
import type { Factor } from '../contract/sign-in.ts';
import type { Totp } from '../storage/lmdb/auth-records.ts';
import type { AccountDraft } from './account-draft.ts';
import { mustExist } from './checks.ts';
import type { DirectorySources } from './directory.ts';
import { targetOf } from './members.ts';
import { passkeysOf, removePasskey } from './passkeys.ts';
import { newPassword } from './passwords.ts';
import { hashSecret, matchesHash, type RandomBytes } from './secrets.ts';
import type { Reader } from './store/account-store.ts';

/** Recovery codes of a user. Each has 125 random bits: below 112, a plain hash would not do (OWASP ASVS 5.0, 6.5.2). */
const recoveryCodeCount = 10;
const recoveryCodeGroups = 5;

export function secondFactorsOf(reader: Pick<Reader, 'get' | 'keys'>, userId: string): readonly Factor[] {
  const totp = reader.get('totp', userId);
  return [
    ...(totp === undefined ? [] : (['totp'] as const)),
    ...(totp === undefined || totp.recoveryCodes.length === 0 ? [] : (['recovery-code'] as const)),
    ...(passkeysOf(reader, userId).length === 0 ? [] : (['passkey'] as const)),
  ];
}

export interface Enrolment {
  readonly secret: string;
  readonly code: string;
}

/**
 * Drafts an authenticator app of a user, with new recovery codes. They are shown once.
 * @returns `undefined` if the code is wrong
 * @throws {ApiError} `conflict` if the user has one
 */
export function addTotp(
  { clock, randomBytes }: DirectorySources,
  totps: Totps,
  draft: AccountDraft,
  userId: string,
  { secret, code }: Enrolment,
): readonly string[] | undefined {
  const user = mustExist('user', draft.users.get(userId));
  if (draft.has('totp', userId)) throw new ApiError('conflict', hasTotp);
  const now = clock.now();
  const lastStep = totps.stepOf(secret, code, now);
  if (lastStep === undefined) return undefined;
  const { shown, hashes } = newRecoveryCodes(randomBytes);
  const record = { userId, secret, createdAt: now, lastStep, lastUsedAt: now, recoveryCodes: hashes };
  draft.put('totp', userId, record);
  for (const teamId of user.teams) draft.note('totp.added', teamId, targetOf(user));
  return shown;
}

const hasTotp = 'The user already has an authenticator app; remove it first';

/**
 * Drafts the use of a code or a recovery code. Each is accepted once.
 * @returns what it proves; `undefined` if it is wrong or was used
 */
export function acceptCode(
  { clock }: Pick<DirectorySources, 'clock'>,
  totps: Totps,
  draft: AccountDraft,
  userId: string,
  typed: string,
): 'totp' | 'recovery-code' | undefined {
  const totp = draft.get('totp', userId);
  if (totp === undefined) return undefined;
  const now = clock.now();
  const step = totps.stepOf(totp.secret, typed, now);
  if (step !== undefined) {
    if (step <= totp.lastStep) return undefined;
    draft.put('totp', userId, { ...totp, lastStep: step, lastUsedAt: now });
    return 'totp';
  }
  const recoveryCodes = totp.recoveryCodes.filter((hash) => !matchesHash(plain(typed), hash));
  if (recoveryCodes.length === totp.recoveryCodes.length) return undefined;
  draft.put('totp', userId, { ...totp, recoveryCodes });
  noteFor(draft, 'recovery-code.used', userId);
  return 'recovery-code';
}

/** @throws {ApiError} `not_found` */
export function removeTotp(draft: AccountDraft, userId: string): void {
  mustExist('authenticator app', draft.get('totp', userId));
  draft.remove('totp', userId);
  noteFor(draft, 'totp.removed', userId);
}

export function removeSecondFactors(draft: AccountDraft, userId: string): void {
  if (draft.has('totp', userId)) removeTotp(draft, userId);
  const user = draft.users.get(userId);
  for (const [id] of passkeysOf(draft, userId)) if (user !== undefined) removePasskey(draft, user, id);
}

/** Drafts new recovery codes, which replace all others. @throws {ApiError} `not_found` without an authenticator app */
export function renewRecoveryCodes(draft: AccountDraft, userId: string, randomBytes: RandomBytes): readonly string[] {
  const totp: Totp = mustExist('authenticator app', draft.get('totp', userId));
  const { shown, hashes } = newRecoveryCodes(randomBytes);
  draft.put('totp', userId, { ...totp, recoveryCodes: hashes });
  noteFor(draft, 'recovery-codes.regenerated', userId);
  return shown;
}

function newRecoveryCodes(randomBytes: RandomBytes) {
  const shown = Array.from({ length: recoveryCodeCount }, () => newPassword(randomBytes, recoveryCodeGroups));
  return { shown, hashes: shown.map((code) => hashSecret(plain(code))) };
}

/** A recovery code without the separators, in which people type it differently. */
function plain(typed: string): string {
  return typed.toLowerCase().replace(/[\s-]/g, '');
}

function noteFor(
  draft: AccountDraft,
  action: 'totp.removed' | 'recovery-code.used' | 'recovery-codes.regenerated',
  userId: string,
): void {
  const user = draft.users.get(userId);
  for (const teamId of user?.teams ?? []) draft.note(action, teamId, targetOf(user!));
}

/** Time-based one-time passwords (RFC 6238) of authenticator apps: six digits, a new code every 30 s. */
interface Totps {
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
