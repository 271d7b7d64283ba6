import { hashSecret } from '../../../accounts/secrets.ts';
import type { Draft, Reader } from '../../../accounts/store/account-store.ts';
import type { ProviderSignIn } from '../../../storage/lmdb/auth-records.ts';
import { longestSessionMs } from './sessions.ts';

/** An account or a session at an issuer. */
export interface AtIssuer {
  readonly issuer: string;
  readonly subject?: string | null;
  readonly sid?: string | null;
}

/** Indexes a sign-in by its account and its session at the issuer, for the back-channel logout. */
export function indexSignIn(
  draft: Draft,
  { issuer, subject, sid }: AtIssuer,
  { userId, signIn, now }: { readonly userId: string; readonly signIn: string; readonly now: number },
): void {
  const record = { userId, signIn, expiresAt: now + longestSessionMs };
  for (const prefix of prefixesOf(issuer, { subject, sid }))
    draft.put('providerSignIns', `${prefix}${signIn}`, record);
}

/**
 * Takes the sign-ins of a session at an issuer from the index or, without a `sid`, those of an account. With both, they must be of
 * both.
 */
export function takeSignIns(
  draft: Draft & Reader,
  { issuer, subject, sid }: AtIssuer,
): readonly ProviderSignIn[] {
  const [first = '', ...others] = prefixesOf(issuer, { sid, subject });
  const found: ProviderSignIn[] = [];
  // `~` sorts after every digit of a key.
  for (const key of [...draft.keys('providerSignIns', { start: first, end: `${first}~` })]) {
    const signIn = key.slice(first.length);
    const record = draft.get('providerSignIns', key);
    if (record === undefined || !others.every((prefix) => draft.has('providerSignIns', `${prefix}${signIn}`)))
      continue;
    found.push(record);
    for (const prefix of [first, ...others]) draft.remove('providerSignIns', `${prefix}${signIn}`);
  }
  return found;
}

function prefixesOf(
  issuer: string,
  ids: Readonly<Record<string, string | null | undefined>>,
): readonly string[] {
  return Object.entries(ids).flatMap(([kind, id]) =>
    id === null || id === undefined ? [] : [`${hashSecret(JSON.stringify([issuer, kind, id]))}.`],
  );
}
