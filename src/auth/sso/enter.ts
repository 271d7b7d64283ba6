import type { AccountDraft } from '../../accounts/account-draft.ts';
import { identitiesOf, linkedIdentity, putIdentity, removeIdentity } from '../../accounts/identity-providers.ts';
import { invitationOf, redeemInvitation, userOfLink, withdrawLink } from '../../accounts/invitations.ts';
import { hasPassword, noPasswordHash, withoutPassword } from '../../accounts/passwords.ts';
import { newId } from '../../accounts/secrets.ts';
import { requiredProvider } from '../../accounts/sign-in-policy.ts';
import { draftUser, draftUserPatch, userOfEmail } from '../../accounts/users.ts';
import { ApiError } from '../../contract/errors.ts';
import { isRecentSignIn } from '../../contract/step-up.ts';
import type { Authentication, IdentityProvider, LinkedIdentity } from '../../storage/lmdb/auth-records.ts';
import type { OAuthClient, User } from '../../storage/lmdb/records.ts';
import type { Browser } from '../cookies/browser.ts';
import { draftSignIn } from '../oauth/draft-sign-in.ts';
import { endSessionsOf } from '../oauth/sessions.ts';
import { type CurrentSignIn, findSignIn } from '../oauth/sign-ins.ts';
import { applyRules, type ProviderIdentity, rolesByRules } from './claims.ts';
import { ProviderRefusal } from './provider-refusal.ts';
import type { SsoServices } from './services.ts';

interface ProvenAccount {
  readonly provider: IdentityProvider;
  readonly identity: ProviderIdentity;
  readonly address: string;
}

interface Entering extends ProvenAccount {
  readonly idToken: string;
  readonly client: OAuthClient;
  readonly browser: Browser | undefined;
  readonly userAgent: string;
  /** The secret of a link, whose user the account is linked to. */
  readonly link?: string | undefined;
}

/** A longer ID token is not kept: the user is asked at the provider whether to sign out. */
const longestIdToken = 4096;
/**
 * Maximum age of a sign-in at the provider, seconds. Older ones, and those at an unknown time, get this age. It is not recent, and a
 * sign-in here lasts longer.
 */
const longestAgo = 24 * 3600;

/**
 * Signs in the user of an account at a provider: the one linked to it, the one of an invitation, the one with its e-mail address,
 * or a new one.
 * @returns the browser, with a new id
 * @throws {ProviderRefusal}
 * @throws {ApiError} `store_unavailable`, `engine_unavailable`
 */
export function enter(services: SsoServices, entering: Entering): Promise<Browser> {
  const { directory, accountStore, clock } = services;
  const { provider, identity, address, link } = entering;
  const id =
    link === undefined
      ? linkedIdentity(accountStore, provider.issuer, identity.subject)?.userId
      : userOfLink(directory, link, clock.now())?.id;
  const by = { address, ...(id !== undefined && { id }) };
  return unlessTeamMissing(directory.under(by).change((draft) => draftEntry(services, draft, entering)));
}

/**
 * Links an account at a provider to the user of a recent sign-in here. The sign-in and its time stay: the account proves nothing about
 * its user.
 * @throws {ProviderRefusal}
 * @throws {ApiError} `store_unavailable`, `engine_unavailable`
 */
export function linkAccount(
  services: SsoServices,
  { key, user: { id } }: Pick<CurrentSignIn, 'key' | 'user'>,
  account: ProvenAccount,
): Promise<User> {
  const { directory, clock } = services;
  const by = { address: account.address, id };
  const linked = directory.under(by).change((draft) => {
    const signIn = findSignIn(draft, draft, key, clock.now());
    if (signIn === undefined || !mayLink(signIn, clock.now())) throw new ProviderRefusal('sign_in_over');
    const provider = currentProvider(services, draft, account.provider);
    const known = findLinked(draft, provider, account.identity);
    const found = linkKnown(services, draft, { ...account, provider }, known, signIn.user);
    return draftIdentity(services, draft, { ...account, provider }, found);
  });
  return unlessTeamMissing(linked);
}

/** True if an account may be linked to the user of a sign-in. @param now Unix ms */
function mayLink({ missing, authTime }: CurrentSignIn, now: number): boolean {
  return missing === undefined && isRecentSignIn(authTime, now);
}

/** A membership that ended stays so, although the sign-in is refused. */
async function unlessTeamMissing<T>(change: Promise<T | 'team_missing'>): Promise<T> {
  const result = await change;
  if (result === 'team_missing') throw new ProviderRefusal('team_missing');
  return result;
}

function draftEntry(services: SsoServices, draft: AccountDraft, entering: Entering): Browser | 'team_missing' {
  const { identity, idToken, client, browser, userAgent, link } = entering;
  const provider = currentProvider(services, draft, entering.provider);
  const found = findUser(services, draft, { ...entering, provider });
  const user = draftIdentity(services, draft, { provider, identity }, found);
  if (user === 'team_missing') return user;
  const { id, name, issuer, trustsSecondFactor } = provider;
  const { subject, sid } = identity;
  const authentication: Authentication = {
    factors: link === undefined ? ['provider'] : ['invitation', 'provider'],
    provider: {
      id,
      issuer,
      subject,
      sid,
      ...(idToken.length <= longestIdToken && { idToken }),
      ...(!trustsSecondFactor && { isOneFactor: true }),
    },
    userAgent,
  };
  const now = services.clock.now();
  // The secret of a link is proven now, whatever the provider says.
  const authTime = link === undefined ? authTimeOf(identity, now) : Math.floor(now / 1000);
  const proven = { client, browser, authentication, authTime, provider: name };
  const started = draftSignIn(services, draft, user, proven);
  if (started.outcome !== 'signed-in') throw new Error('The client of a sign-in is not for all users');
  return started.browser;
}

/** Drafts the use of a user's account, with the memberships that it gives. */
function draftIdentity(
  { clock }: SsoServices,
  draft: AccountDraft,
  { provider, identity }: Pick<ProvenAccount, 'provider' | 'identity'>,
  found: Found,
): User | 'team_missing' {
  if ((requiredProvider(draft, found.user) ?? provider.id) !== provider.id)
    throw new ProviderRefusal('other_provider_required');
  const now = clock.now();
  const { user, given } = applyRules(draft, found.user, found.linked.given, { provider, identity, now });
  if (user === undefined) {
    removeIdentity(draft, found.linked);
    return 'team_missing';
  }
  putIdentity(draft, { ...found.linked, email: identity.email, given, lastUsedAt: now });
  return user;
}

/** When the user signed in at the provider, seconds. */
function authTimeOf({ authTime }: ProviderIdentity, now: number): number {
  const seconds = Math.floor(now / 1000);
  return Math.min(seconds, Math.max(authTime ?? 0, seconds - longestAgo));
}

/** The provider at the time of the change. An administrator may have changed it meanwhile. */
function currentProvider({ providers }: SsoServices, draft: AccountDraft, used: IdentityProvider): IdentityProvider {
  const current = providers.isConfigured(used.id) ? used : draft.identityProviders.get(used.id);
  if (current?.enabled && current.issuer === used.issuer && current.clientId === used.clientId) return current;
  throw new ProviderRefusal('provider_changed');
}

interface Found {
  readonly user: User;
  readonly linked: LinkedIdentity;
}

/** @throws {ProviderRefusal} */
function findUser(services: SsoServices, draft: AccountDraft, entering: Entering): Found {
  const { provider, identity, link } = entering;
  const linked = findLinked(draft, provider, identity);
  if (link === undefined) return linked ?? linkNew(services, draft, provider, identity);
  return linkKnown(services, draft, entering, linked, redeem(services, draft, link));
}

/**
 * The user of an invitation or a reset link. The link, the password and the sessions of the user end.
 * @throws {ProviderRefusal}
 */
function redeem({ clock, randomBytes }: SsoServices, draft: AccountDraft, link: string): User {
  const now = clock.now();
  const redeemed = redeemInvitation(draft, link, now);
  if (redeemed === undefined) throw new ProviderRefusal('link_over');
  const patch = hasPassword(redeemed) ? { passwordHash: withoutPassword(randomBytes) } : {};
  const user = draftUserPatch(draft, redeemed, patch, now, { factors: ['invitation'] });
  endSessionsOf({ clock }, draft, user.id);
  return user;
}

function findLinked(
  draft: AccountDraft,
  { issuer }: IdentityProvider,
  { subject }: ProviderIdentity,
): Found | undefined {
  const linked = linkedIdentity(draft, issuer, subject);
  const user = linked && draft.users.get(linked.userId);
  return linked && user && { linked, user };
}

/** Links the account to a user with its e-mail address, or to a new user. @throws {ProviderRefusal} */
function linkNew(
  services: SsoServices,
  draft: AccountDraft,
  provider: IdentityProvider,
  identity: ProviderIdentity,
): Found {
  const { email, emailVerified } = identity;
  const { linkByEmail, createUsers, issuer } = provider;
  if (!linkByEmail && !createUsers) throw new ProviderRefusal('user_unknown');
  if (email === null) throw new ProviderRefusal('email_missing');
  const holder = userOfEmail(draft, email);
  if (holder === undefined) {
    if (!createUsers) throw new ProviderRefusal('user_unknown');
    // A provider that says nothing knows only addresses that its operator has entered.
    if (emailVerified === false) throw new ProviderRefusal('email_unverified');
    return createLinked(services, draft, provider, { ...identity, email });
  }
  if (!linkByEmail) throw new ProviderRefusal('email_taken');
  if (emailVerified !== true) throw new ProviderRefusal('email_unverified');
  if (identitiesOf(draft, holder.id).some((linked) => linked.issuer === issuer))
    throw new ProviderRefusal('linked_elsewhere');
  // Whoever has the link of the user could sign in as them later.
  if (invitationOf(holder) !== undefined) withdrawLink(draft, holder, services.clock.now());
  const user = draft.users.get(holder.id) ?? holder;
  return { user, linked: draftLink(services, draft, user, { provider, identity }) };
}

/** Links the account to a user who has asked for it. @throws {ProviderRefusal} */
function linkKnown(
  services: SsoServices,
  draft: AccountDraft,
  { provider, identity }: Pick<Entering, 'provider' | 'identity'>,
  linked: Found | undefined,
  user: User,
): Found {
  if (linked?.user.id === user.id) return { ...linked, user };
  const isElsewhere = identitiesOf(draft, user.id).some(({ issuer }) => issuer === provider.issuer);
  if (linked !== undefined || isElsewhere) throw new ProviderRefusal('linked_elsewhere');
  return { user, linked: draftLink(services, draft, user, { provider, identity }) };
}

/** Creates a user in the team of the provider, or in one that its rules give. */
function createLinked(
  services: SsoServices,
  draft: AccountDraft,
  provider: IdentityProvider,
  identity: ProviderIdentity & { readonly email: string },
): Found {
  const { email, name } = identity;
  const { defaultTeam, defaultRole: role } = provider;
  const [ruled] = rolesByRules(draft, provider, identity);
  const hasDefault = defaultTeam !== null && draft.teams.has(defaultTeam);
  const team = hasDefault ? defaultTeam : ruled?.[0];
  if (team === undefined) throw new ProviderRefusal('team_missing');
  const wanted = { email, name: name ?? email, role, teams: [team], passwordHash: noPasswordHash };
  try {
    const user = draftUser(services.directory, draft, wanted);
    const given = hasDefault || ruled === undefined ? {} : { [team]: { role: ruled[1], before: null } };
    return { user, linked: { ...draftLink(services, draft, user, { provider, identity }), given } };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'plan_limit')
      throw new ProviderRefusal('plan_limit', { cause: error });
    throw error;
  }
}

function draftLink(
  { clock, randomBytes }: SsoServices,
  draft: AccountDraft,
  { id: userId, teams, email: name }: User,
  { provider, identity }: Pick<Entering, 'provider' | 'identity'>,
): LinkedIdentity {
  const { subject, email } = identity;
  const now = clock.now();
  for (const team of teams)
    draft.note('identity.linked', team, { type: 'user', id: userId, name }, { provider: provider.name });
  return {
    id: newId('identity', randomBytes),
    number: draft.takeNumber('linkedIdentity'),
    userId,
    issuer: provider.issuer,
    subject,
    email,
    given: {},
    linkedAt: now,
    lastUsedAt: now,
  };
}
