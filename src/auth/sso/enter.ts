import type { AccountTransaction } from '../../accounts/account-transaction.ts';
import { linkedIdentity, listIdentities, putIdentity, removeIdentity } from '../../accounts/identity-providers.ts';
import { findInvitation, redeemInvitation, userOfLink, withdrawLink } from '../../accounts/invitations.ts';
import { hasPassword, noPasswordHash, withoutPassword } from '../../accounts/passwords.ts';
import { newId } from '../../accounts/secrets.ts';
import { requiredProvider } from '../../accounts/sign-in-policy.ts';
import { addUser, applyUserPatch, userOfEmail } from '../../accounts/users.ts';
import { Refusal } from '../../contract/errors.ts';
import { isRecentSignIn } from '../../contract/step-up.ts';
import type { Authentication, IdentityProvider, LinkedIdentity } from '../../storage/lmdb/auth-records.ts';
import type { OAuthClient, User } from '../../storage/lmdb/records.ts';
import type { Browser } from '../cookies/browser.ts';
import { recordSignIn } from '../oauth/record-sign-in.ts';
import { endUserSessions } from '../oauth/sessions.ts';
import { type CurrentSignIn, findSignIn } from '../oauth/sign-ins.ts';
import { applyRules, type ProviderIdentity, rolesByRules } from './claims.ts';
import { ProviderRefusal } from './provider-refusal.ts';
import type { SsoServices } from './services.ts';

interface ProvenAccount {
  readonly provider: IdentityProvider;
  readonly identity: ProviderIdentity;
  readonly address: string;
}

interface EntryRequest extends ProvenAccount {
  readonly idToken: string;
  readonly client: OAuthClient;
  readonly browser: Browser | undefined;
  readonly userAgent: string;
  /** The secret of an invitation or a reset link. The account is linked to the user of the link. */
  readonly link?: string | undefined;
}

/** Maximum size of a stored ID token. If the token is not stored, the provider asks the user to confirm a sign-out. */
const longestIdToken = 4096;
/**
 * Maximum recorded age of a sign-in at the provider, seconds. It also stands for an unknown age. A sign-in of this age
 * is valid here, but not recent.
 */
const longestAgo = 24 * 3600;

/**
 * Signs in the user of an account at a provider: the linked user, the user of an invitation, the user with the same
 * e-mail address, or a new user.
 * @returns the browser, with a new id
 * @throws {ProviderRefusal}
 * @throws {Refusal} `store_unavailable`, `postgres_unavailable`
 */
export function enter(services: SsoServices, entry: EntryRequest): Promise<Browser> {
  const { directory, accountStore, clock } = services;
  const { provider, identity, address, link } = entry;
  const id =
    link === undefined
      ? linkedIdentity(accountStore, provider.issuer, identity.subject)?.userId
      : userOfLink(directory, link, clock.now())?.id;
  const by = { address, ...(id !== undefined && { id }) };
  return unlessTeamMissing(directory.under(by).change((tx) => recordEntry(services, tx, entry)));
}

/**
 * Links an account at a provider to the user of a recent sign-in here. This does not count as a new sign-in, because
 * the linked account proves nothing about the user.
 * @throws {ProviderRefusal}
 * @throws {Refusal} `store_unavailable`, `postgres_unavailable`
 */
export function linkAccount(
  services: SsoServices,
  { key, user: { id } }: Pick<CurrentSignIn, 'key' | 'user'>,
  account: ProvenAccount,
): Promise<User> {
  const { directory, clock } = services;
  const by = { address: account.address, id };
  const linked = directory.under(by).change((tx) => {
    const signIn = findSignIn(tx, tx, key, clock.now());
    if (signIn === undefined || !mayLink(signIn, clock.now())) throw new ProviderRefusal('sign_in_over');
    const provider = currentProvider(services, tx, account.provider);
    const known = findLinked(tx, provider, account.identity);
    const found = linkKnown(services, tx, { ...account, provider }, known, signIn.user);
    return recordIdentityUse(services, tx, { ...account, provider }, found);
  });
  return unlessTeamMissing(linked);
}

/** True if an account may be linked to the user of a sign-in. @param now Unix ms */
function mayLink({ missing, authTime }: CurrentSignIn, now: number): boolean {
  return missing === undefined && isRecentSignIn(authTime, now);
}

/** Commits a change that ends memberships. Then refuses the sign-in if the user has no team left. */
async function unlessTeamMissing<T>(change: Promise<T | 'team_missing'>): Promise<T> {
  const result = await change;
  if (result === 'team_missing') throw new ProviderRefusal('team_missing');
  return result;
}

function recordEntry(services: SsoServices, tx: AccountTransaction, entry: EntryRequest): Browser | 'team_missing' {
  const { identity, idToken, client, browser, userAgent, link } = entry;
  const provider = currentProvider(services, tx, entry.provider);
  const found = findUser(services, tx, { ...entry, provider });
  const user = recordIdentityUse(services, tx, { provider, identity }, found);
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
  // The secret of the link has just proven who the user is, so the provider's time of sign-in is ignored.
  const authTime = link === undefined ? computeAuthTime(identity, now) : Math.floor(now / 1000);
  const proven = { client, browser, authentication, authTime, provider: name };
  const started = recordSignIn(services, tx, user, proven);
  if (started.outcome !== 'signed-in') throw new Error('The client of a sign-in is not for all users');
  return started.browser;
}

/** Records the use of a linked account, and applies the rules for memberships. */
function recordIdentityUse(
  { clock }: SsoServices,
  tx: AccountTransaction,
  { provider, identity }: Pick<ProvenAccount, 'provider' | 'identity'>,
  found: LinkedUser,
): User | 'team_missing' {
  if ((requiredProvider(tx, found.user) ?? provider.id) !== provider.id)
    throw new ProviderRefusal('other_provider_required');
  const now = clock.now();
  const { user, given } = applyRules(tx, found.user, found.linked.given, { provider, identity, now });
  if (user === undefined) {
    removeIdentity(tx, found.linked);
    return 'team_missing';
  }
  putIdentity(tx, { ...found.linked, email: identity.email, given, lastUsedAt: now });
  return user;
}

/** The time when the user signed in at the provider, seconds; at most `longestAgo` before now. */
function computeAuthTime({ authTime }: ProviderIdentity, now: number): number {
  const seconds = Math.floor(now / 1000);
  return Math.min(seconds, Math.max(authTime ?? 0, seconds - longestAgo));
}

/** Returns the provider as it is now. An administrator might have changed it since the sign-in began. */
function currentProvider({ providers }: SsoServices, tx: AccountTransaction, used: IdentityProvider): IdentityProvider {
  const current = providers.isConfigured(used.id) ? used : tx.identityProviders.get(used.id);
  if (current?.enabled && current.issuer === used.issuer && current.clientId === used.clientId) return current;
  throw new ProviderRefusal('provider_changed');
}

interface LinkedUser {
  readonly user: User;
  readonly linked: LinkedIdentity;
}

/** @throws {ProviderRefusal} */
function findUser(services: SsoServices, tx: AccountTransaction, entry: EntryRequest): LinkedUser {
  const { provider, identity, link } = entry;
  const linked = findLinked(tx, provider, identity);
  if (link === undefined) return linked ?? linkNew(services, tx, provider, identity);
  return linkKnown(services, tx, entry, linked, redeem(services, tx, link));
}

/**
 * Redeems an invitation or a reset link. The link, the password and the sessions of the returned user end.
 * @throws {ProviderRefusal}
 */
function redeem({ clock, randomBytes }: SsoServices, tx: AccountTransaction, link: string): User {
  const now = clock.now();
  const redeemed = redeemInvitation(tx, link, now);
  if (redeemed === undefined) throw new ProviderRefusal('link_over');
  const patch = hasPassword(redeemed) ? { passwordHash: withoutPassword(randomBytes) } : {};
  const user = applyUserPatch(tx, redeemed, patch, now, { factors: ['invitation'] });
  endUserSessions({ clock }, tx, user.id);
  return user;
}

function findLinked(
  tx: AccountTransaction,
  { issuer }: IdentityProvider,
  { subject }: ProviderIdentity,
): LinkedUser | undefined {
  const linked = linkedIdentity(tx, issuer, subject);
  const user = linked && tx.users.get(linked.userId);
  return linked && user && { linked, user };
}

/** Links the account to the user with the same e-mail address, or to a new user. @throws {ProviderRefusal} */
function linkNew(
  services: SsoServices,
  tx: AccountTransaction,
  provider: IdentityProvider,
  identity: ProviderIdentity,
): LinkedUser {
  const { email, emailVerified } = identity;
  const { linkByEmail, createUsers, issuer } = provider;
  if (!linkByEmail && !createUsers) throw new ProviderRefusal('user_unknown');
  if (email === null) throw new ProviderRefusal('email_missing');
  const holder = userOfEmail(tx, email);
  if (holder === undefined) {
    if (!createUsers) throw new ProviderRefusal('user_unknown');
    // If the provider makes no statement about verification, its operator is assumed to have entered the address.
    if (emailVerified === false) throw new ProviderRefusal('email_unverified');
    return createLinked(services, tx, provider, { ...identity, email });
  }
  if (!linkByEmail) throw new ProviderRefusal('email_taken');
  if (emailVerified !== true) throw new ProviderRefusal('email_unverified');
  if (listIdentities(tx, holder.id).some((linked) => linked.issuer === issuer))
    throw new ProviderRefusal('linked_elsewhere');
  // A pending link is withdrawn. Otherwise its holder could later sign in as the user.
  if (findInvitation(holder) !== undefined) withdrawLink(tx, holder, services.clock.now());
  const user = tx.users.get(holder.id) ?? holder;
  return { user, linked: createLinkedIdentity(services, tx, user, { provider, identity }) };
}

/** Links the account to the signed-in user, or to the user of an invitation. @throws {ProviderRefusal} */
function linkKnown(
  services: SsoServices,
  tx: AccountTransaction,
  { provider, identity }: Pick<EntryRequest, 'provider' | 'identity'>,
  linked: LinkedUser | undefined,
  user: User,
): LinkedUser {
  if (linked?.user.id === user.id) return { ...linked, user };
  const isElsewhere = listIdentities(tx, user.id).some(({ issuer }) => issuer === provider.issuer);
  if (linked !== undefined || isElsewhere) throw new ProviderRefusal('linked_elsewhere');
  return { user, linked: createLinkedIdentity(services, tx, user, { provider, identity }) };
}

/** Creates a user in the default team of the provider, or in a team that a rule grants. */
function createLinked(
  services: SsoServices,
  tx: AccountTransaction,
  provider: IdentityProvider,
  identity: ProviderIdentity & { readonly email: string },
): LinkedUser {
  const { email, name } = identity;
  const { defaultTeam, defaultRole: role } = provider;
  const [ruled] = rolesByRules(tx, provider, identity);
  const hasDefault = defaultTeam !== null && tx.teams.has(defaultTeam);
  const team = hasDefault ? defaultTeam : ruled?.[0];
  if (team === undefined) throw new ProviderRefusal('team_missing');
  const wanted = { email, name: name ?? email, role, teams: [team], passwordHash: noPasswordHash };
  try {
    const user = addUser(services.directory, tx, wanted);
    const given = hasDefault || ruled === undefined ? {} : { [team]: { role: ruled[1], before: null } };
    return { user, linked: { ...createLinkedIdentity(services, tx, user, { provider, identity }), given } };
  } catch (error) {
    if (error instanceof Refusal && error.code === 'plan_limit')
      throw new ProviderRefusal('plan_limit', { cause: error });
    throw error;
  }
}

function createLinkedIdentity(
  { clock, randomBytes }: SsoServices,
  tx: AccountTransaction,
  { id: userId, teams, email: name }: User,
  { provider, identity }: Pick<EntryRequest, 'provider' | 'identity'>,
): LinkedIdentity {
  const { subject, email } = identity;
  const now = clock.now();
  for (const team of teams)
    tx.note('identity.linked', team, { type: 'user', id: userId, name }, { provider: provider.name });
  return {
    id: newId('identity', randomBytes),
    number: tx.takeNumber('linkedIdentity'),
    userId,
    issuer: provider.issuer,
    subject,
    email,
    given: {},
    linkedAt: now,
    lastUsedAt: now,
  };
}
