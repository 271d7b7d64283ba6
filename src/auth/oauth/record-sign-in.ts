import type { AccountTransaction } from '../../accounts/account-transaction.ts';
import { hashSecret } from '../../accounts/secrets.ts';
import type { Reader, Transaction } from '../../accounts/store/account-store.ts';
import type { AuditAction } from '../../contract/audit.ts';
import type { Factor } from '../../contract/sign-in.ts';
import type { Request } from '../../http/types.ts';
import type { Authentication, ProviderSignIn } from '../../storage/lmdb/auth-records.ts';
import type { AuditEntry, OAuthClient, User } from '../../storage/lmdb/records.ts';
import { type Browser, renewBrowser } from '../cookies/browser.ts';
import { maySignIn } from './clients.ts';
import type { Services } from './services.ts';
import { longestSessionMs } from './sessions.ts';
import { type CurrentSignIn, lackingFactor, startSignIn } from './sign-ins.ts';

/** The proof of a factor, and the browser and the client of the sign-in. */
export interface Proven {
  readonly client: OAuthClient;
  /** The user's browser. Its previous sign-in ends. */
  readonly browser: Browser | undefined;
  readonly authentication: Authentication;
  /** The time when the user signed in, seconds; by default now. */
  readonly authTime?: number;
  /** Name of the identity provider that proved the user, for the audit log. */
  readonly provider?: string;
}

export type RecordedSignIn =
  | { readonly outcome: 'signed-in'; readonly browser: Browser; readonly signIn: CurrentSignIn }
  | { readonly outcome: 'not-a-member' };

/**
 * Records the sign-in of a user in a transaction that has checked the proof. Checks the client, gives the browser a new
 * id, and writes the sign-in and an audit log entry. The caller sets the cookie of the returned browser.
 */
export function recordSignIn(
  { clock, randomBytes }: Pick<Services, 'clock' | 'randomBytes'>,
  tx: AccountTransaction,
  user: User,
  { client, browser: before, authentication, authTime, provider }: Proven,
): RecordedSignIn {
  const proof = { factors: authentication.factors, ...(provider !== undefined && { provider }) };
  if (!maySignIn(user, client)) {
    noteSignIn(tx, 'sign-in.refused', user, proof);
    return { outcome: 'not-a-member' };
  }
  const browser = renewBrowser(before, randomBytes);
  const now = clock.now();
  const signIn = startSignIn(tx, user, { before, browser, authentication, authTime, now });
  // The key changes with each step of a sign-in, so each step is indexed for a logout by the provider.
  if (authentication.provider !== undefined)
    indexSignIn(tx, authentication.provider, { userId: user.id, signIn: signIn.key, now });
  const isComplete = lackingFactor(tx, user, authentication) === undefined;
  noteSignIn(tx, isComplete ? 'sign-in.succeeded' : 'sign-in.started', user, proof);
  const stored = tx.users.get(user.id);
  if (isComplete && stored !== undefined) tx.put('users', user.id, { ...stored, lastSignInAt: now });
  return { outcome: 'signed-in', browser, signIn };
}

/**
 * Records a further factor, which completes a sign-in. The time of the sign-in becomes the current time. If a provider
 * proved the first factor, this time stays the same, because the user might have signed in there long ago.
 */
export function recordFurtherFactor(
  sources: Pick<Services, 'clock' | 'randomBytes'>,
  tx: AccountTransaction,
  user: User,
  { authentication, authTime }: Pick<CurrentSignIn, 'authentication' | 'authTime'>,
  { client, browser, factor }: Pick<Proven, 'client' | 'browser'> & { readonly factor: Factor },
): RecordedSignIn {
  return recordSignIn(sources, tx, user, {
    client,
    browser,
    authentication: { ...authentication, factors: [...authentication.factors, factor] },
    ...(authentication.provider !== undefined && { authTime }),
  });
}

/**
 * Writes a sign-in to the audit log. A failed sign-in to an unknown account is also recorded, so that it takes as long
 * as any other failed sign-in. The typed address is not recorded, because it might be a password.
 */
export function noteSignIn(
  tx: AccountTransaction,
  action: AuditAction & `sign-in.${string}`,
  user: User | undefined,
  proof: Pick<AuditEntry, 'factors' | 'provider'>,
): void {
  const { id, email: name, teams } = user ?? { id: '', email: '', teams: [null] };
  for (const teamId of teams) tx.note(action, teamId, { type: 'user', id, name }, proof);
}

const longestUserAgent = 256;

export function readUserAgent(request: Pick<Request, 'header'>): string {
  return (request.header('user-agent') ?? '').slice(0, longestUserAgent);
}

export interface AtIssuer {
  readonly issuer: string;
  readonly subject?: string | null;
  readonly sid?: string | null;
}

/** Indexes a sign-in by its account and its session at the issuer, for the back-channel logout. */
function indexSignIn(
  tx: Transaction,
  { issuer, subject, sid }: AtIssuer,
  { userId, signIn, now }: { readonly userId: string; readonly signIn: string; readonly now: number },
): void {
  const record = { userId, signIn, expiresAt: now + longestSessionMs };
  for (const prefix of listPrefixes(issuer, { subject, sid })) tx.put('providerSignIns', `${prefix}${signIn}`, record);
}

/**
 * Removes sign-ins from the index, and returns them: the sign-ins of a session at an issuer or, without a `sid`, of an
 * account. If account and session are given, both must match.
 */
export function takeSignIns(tx: Transaction & Reader, { issuer, subject, sid }: AtIssuer): readonly ProviderSignIn[] {
  const [first = '', ...others] = listPrefixes(issuer, { sid, subject });
  const found: ProviderSignIn[] = [];
  // `~` sorts after every digit of a key, so the range contains all these sign-ins.
  for (const key of [...tx.keys('providerSignIns', { start: first, end: `${first}~` })]) {
    const signIn = key.slice(first.length);
    const record = tx.get('providerSignIns', key);
    if (record === undefined || !others.every((prefix) => tx.has('providerSignIns', `${prefix}${signIn}`))) continue;
    found.push(record);
    for (const prefix of [first, ...others]) tx.remove('providerSignIns', `${prefix}${signIn}`);
  }
  return found;
}

function listPrefixes(issuer: string, ids: Readonly<Record<string, string | null | undefined>>): readonly string[] {
  return Object.entries(ids).flatMap(([kind, id]) =>
    id === null || id === undefined ? [] : [`${hashSecret(JSON.stringify([issuer, kind, id]))}.`],
  );
}
