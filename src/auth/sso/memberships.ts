import type { AccountDraft } from '../../accounts/account-draft.ts';
import { draftMember, draftRemoval, targetOf } from '../../accounts/members.ts';
import { ApiError } from '../../contract/errors.ts';
import { isAtLeast, type Role, roleIn } from '../../contract/roles.ts';
import type { GivenRole, IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import type { User } from '../../storage/lmdb/records.ts';
import type { ProviderIdentity } from './claims.ts';

type Given = Readonly<Record<string, GivenRole>>;

interface Memberships {
  /** `undefined` if the user had no other team, and was deleted. */
  readonly user: User | undefined;
  readonly given: Given;
}

/**
 * Drafts the memberships that rules give to a user. Those that rules gave before, and give no longer, end, or return to the role before.
 * The last Admin of a team stays one, and a full team takes no more members: the audit log says so.
 * @param given by the rules until now
 */
export function applyRules(
  draft: AccountDraft,
  user: User,
  given: Given,
  rules: { readonly provider: IdentityProvider; readonly identity: ProviderIdentity; readonly now: number },
): Memberships {
  const { provider, identity, now } = rules;
  const wanted = rolesByRules(draft, provider, identity);
  const next = new Map<string, GivenRole>();
  let current: User = user;
  for (const [team, role] of wanted) {
    const had = roleIn(current, team) ?? null;
    const before = had === null ? null : (given[team] ?? { before: had }).before;
    const member: User = current;
    const changed: User | undefined = ifAllowed(draft, 'member.not-added', team, user, () =>
      draftMember(draft, member, team, { role, now }),
    );
    current = changed ?? current;
    if (changed !== undefined || given[team] !== undefined) next.set(team, { role, before });
  }
  let left: User | undefined = current;
  for (const [team, role] of Object.entries(given)) {
    if (wanted.has(team) || !left?.teams.includes(team)) continue;
    const member: User = left;
    const changed: { user: User | undefined } | undefined = ifAllowed(draft, 'member.kept', team, user, () =>
      role.before === null
        ? { user: draftRemoval(draft, member, team, now) }
        : { user: draftMember(draft, member, team, { role: role.before, now }) },
    );
    if (changed === undefined) next.set(team, role);
    else left = changed.user;
  }
  return { user: left, given: Object.fromEntries(next) };
}

/** The roles that rules give, by team; of several, the one that may do most. */
export function rolesByRules(
  { teams }: Pick<AccountDraft, 'teams'>,
  { claimRules }: Pick<IdentityProvider, 'claimRules'>,
  { matches }: Pick<ProviderIdentity, 'matches'>,
): ReadonlyMap<string, Role> {
  const wanted = new Map<string, Role>();
  for (const rule of claimRules)
    if (teams.has(rule.team) && matches(rule) && !isAtLeast(wanted.get(rule.team), rule.role))
      wanted.set(rule.team, rule.role);
  return wanted;
}

/** Notes a change that the limits of a team do not allow. */
function ifAllowed<T>(
  draft: AccountDraft,
  action: 'member.kept' | 'member.not-added',
  team: string,
  user: User,
  change: () => T,
): T | undefined {
  try {
    return change();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    draft.note(action, team, targetOf(user));
    return undefined;
  }
}
