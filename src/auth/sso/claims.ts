import type { AccountTransaction } from '../../accounts/account-transaction.ts';
import { describeTarget, putMembership, removeMembership } from '../../accounts/members.ts';
import { Refusal } from '../../contract/errors.ts';
import { changesDirection } from '../../contract/escaping.ts';
import { isEmail, isName } from '../../contract/names.ts';
import { isAtLeast, type Role, roleIn } from '../../contract/roles.ts';
import type { ClaimRule, GivenRole, IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import type { User } from '../../storage/lmdb/records.ts';
import type { Claims, ProviderResponse } from './provider-client.ts';
import { ProviderRefusal } from './provider-refusal.ts';

/** The checked claims of a provider about a user. */
export interface ProviderIdentity {
  readonly subject: string;
  /** `null` if missing or not an e-mail address. */
  readonly email: string | null;
  /** True if the provider confirms the address; `undefined` if the provider makes no statement. */
  readonly emailVerified: boolean | undefined;
  /** `null` if missing or not a valid name. */
  readonly name: string | null;
  readonly sid: string | null;
  /** The time when the user signed in at the provider, seconds; `null` if the provider makes no statement. */
  readonly authTime: number | null;
  readonly matches: (rule: ClaimRule) => boolean;
}

/** Maximum length of an identifier (OpenID Connect Core §2: a `sub` has at most 255 characters). */
const longestId = 255;
const longestEmail = 320;
const longestClaims = 65_536;

/**
 * Reads the claims of an ID token. If a required claim is missing, it also reads the UserInfo endpoint.
 * @throws {ProviderRefusal} `id_token_invalid`, `claims_invalid`, `provider_unreachable`
 */
export async function readIdentity(
  provider: Pick<IdentityProvider, 'linkByEmail' | 'createUsers' | 'claimRules'>,
  { claims, userInfo }: Pick<ProviderResponse, 'claims' | 'userInfo'>,
): Promise<ProviderIdentity> {
  const token = claims as Claims;
  const needsEmail = (provider.linkByEmail || provider.createUsers) && !Object.hasOwn(token, 'email');
  const needsClaim = provider.claimRules.some(({ claim }) => claimIn(token, claim) === undefined);
  const more = (needsEmail || needsClaim) && userInfo !== undefined ? await userInfo() : {};
  if (JSON.stringify([token, more]).length > longestClaims) throw new ProviderRefusal('claims_invalid');
  if (claims.sub === '' || claims.sub.length > longestId) throw new ProviderRefusal('id_token_invalid');
  // The address and its confirmation must come from the same source, the ID token or UserInfo.
  const ofEmail = Object.hasOwn(token, 'email') ? token : more;
  return {
    subject: claims.sub,
    email: emailIn(ofEmail),
    emailVerified: Object.hasOwn(ofEmail, 'email_verified') ? ofEmail['email_verified'] === true : undefined,
    name: nameIn(token) ?? nameIn(more),
    sid: textIn(token, 'sid', longestId),
    authTime: typeof claims.auth_time === 'number' ? Math.floor(claims.auth_time) : null,
    matches: ({ claim, value }) => has(claimIn(token, claim) ?? claimIn(more, claim), value),
  };
}

/** Finds a claim by its name, or by a path of names such as `realm_access.roles`. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((object, key) => {
    const isObject = typeof object === 'object' && object !== null;
    return isObject && Object.hasOwn(object, key) ? (object as Claims)[key] : undefined;
  }, claims);
}

/** True if a claim equals a value, or is a list that contains the value. */
function has(claim: unknown, value: string): boolean {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return values.some((one) => ['string', 'number', 'boolean'].includes(typeof one) && String(one) === value);
}

function textIn(claims: Claims, name: string, longest: number): string | null {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : null;
}

function emailIn(claims: Claims): string | null {
  const email = textIn(claims, 'email', longestEmail);
  return email !== null && isEmail(email) ? email : null;
}

function nameIn(claims: Claims): string | null {
  const parts = [textIn(claims, 'given_name', 100), textIn(claims, 'family_name', 100)];
  const name = textIn(claims, 'name', 200) ?? parts.filter((part) => part !== null).join(' ');
  return isName(name) && !changesDirection(name) ? name : null;
}

type GivenRoles = Readonly<Record<string, GivenRole>>;

interface Memberships {
  /** The user after the change; `undefined` if the loss of the last team deleted the user. */
  readonly user: User | undefined;
  readonly given: GivenRoles;
}

/**
 * Applies the rules to a user's memberships. If no rule grants a membership any more, it ends, or gets its previous
 * role back. The last Admin of a team stays Admin, and a full team gets no more members; the audit log notes both.
 * @param given roles that the rules granted before, by team
 */
export function applyRules(
  tx: AccountTransaction,
  user: User,
  given: GivenRoles,
  rules: { readonly provider: IdentityProvider; readonly identity: ProviderIdentity; readonly now: number },
): Memberships {
  const { provider, identity, now } = rules;
  const wanted = rolesByRules(tx, provider, identity);
  const next = new Map<string, GivenRole>();
  let current: User = user;
  for (const [team, role] of wanted) {
    const had = roleIn(current, team) ?? null;
    const before = had === null ? null : (given[team] ?? { before: had }).before;
    const member: User = current;
    const changed: User | undefined = ifAllowed(tx, 'member.not-added', team, user, () =>
      putMembership(tx, member, team, { role, now }),
    );
    current = changed ?? current;
    if (changed !== undefined || given[team] !== undefined) next.set(team, { role, before });
  }
  let left: User | undefined = current;
  for (const [team, role] of Object.entries(given)) {
    if (wanted.has(team) || !left?.teams.includes(team)) continue;
    const member: User = left;
    const changed: { user: User | undefined } | undefined = ifAllowed(tx, 'member.kept', team, user, () =>
      role.before === null
        ? { user: removeMembership(tx, member, team, now) }
        : { user: putMembership(tx, member, team, { role: role.before, now }) },
    );
    if (changed === undefined) next.set(team, role);
    else left = changed.user;
  }
  return { user: left, given: Object.fromEntries(next) };
}

/** The roles that the rules grant, by team. If several rules apply to a team, the highest role counts. */
export function rolesByRules(
  { teams }: Pick<AccountTransaction, 'teams'>,
  { claimRules }: Pick<IdentityProvider, 'claimRules'>,
  { matches }: Pick<ProviderIdentity, 'matches'>,
): ReadonlyMap<string, Role> {
  const wanted = new Map<string, Role>();
  for (const rule of claimRules)
    if (teams.has(rule.team) && matches(rule) && !isAtLeast(wanted.get(rule.team), rule.role))
      wanted.set(rule.team, rule.role);
  return wanted;
}

/** Makes a change, or records in the audit log that the limits of the team do not allow it. */
function ifAllowed<T>(
  tx: AccountTransaction,
  action: 'member.kept' | 'member.not-added',
  team: string,
  user: User,
  change: () => T,
): T | undefined {
  try {
    return change();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tx.note(action, team, describeTarget(user));
    return undefined;
  }
}
