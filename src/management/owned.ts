import type { Accounts } from '../accounts/accounts.ts';
import { codeOwnersIn } from '../accounts/code-scans.ts';
import { type FindUser, findOwners, noOwners, type Owners } from '../accounts/owners.ts';
import { userOfEmail } from '../accounts/users.ts';
import { isMine, type Me } from '../contract/shapes/owned.ts';
import type { Owner } from '../contract/shapes/owner.ts';
import type { OwnedNames } from '../reports/verdicts/features-report.ts';
import type { Application, User } from '../storage/lmdb/records.ts';
import type { Caller } from './access.ts';

/** Returns the owners of each feature of an application. Features without owners are omitted. */
export function allOwners(accounts: Accounts, application: Application): ReadonlyMap<string, Owners> {
  const owned = new Map<string, Owners>();
  const declared = accounts.getFeatures(application.id);
  const scanned = codeOwnersIn([...accounts.getScans(application.id).values()]).keys();
  const findUser = userFinder(accounts);
  for (const name of new Set([...declared.keys(), ...scanned])) {
    const owners = findOwners(accounts, application, name, declared.get(name), findUser);
    if (owners.ownersFrom !== null) owned.set(name, owners);
  }
  return owned;
}

/** Returns a function that finds users by e-mail address. The first call creates its index. */
function userFinder({ users }: Accounts): FindUser {
  let index: Map<string, User> | undefined;
  return (email) => {
    index ??= new Map(Array.from(users.values(), (user) => [user.email.toLowerCase(), user]));
    return index.get(email.toLowerCase());
  };
}

/** Filters of a list by owners and tags. */
interface OwnedFilter {
  readonly owner: string | undefined;
  readonly tag: string | undefined;
  readonly mine: boolean | undefined;
}

/** Returns the names of the features that match a filter; `undefined` if the filter is empty. */
export function namesOwned(
  accounts: Accounts,
  application: Application,
  owned: ReadonlyMap<string, Owners>,
  caller: Caller,
  { owner, tag, mine }: OwnedFilter,
): OwnedNames | undefined {
  if (owner === undefined && tag === undefined && mine === undefined) return undefined;
  const declared = accounts.getFeatures(application.id);
  const tagged = tag?.toLowerCase();
  const isOwner = ownerTest(accounts, owner);
  const me = describeCaller(accounts, caller);
  const others = mine === false && owner === undefined && tag === undefined;
  const names = [...new Set([...declared.keys(), ...owned.keys()])].filter((name) => {
    const of = owned.get(name) ?? noOwners;
    const tags = declared.get(name)?.tags ?? [];
    return (
      (owner === undefined || of.owners.some(isOwner)) &&
      (tagged === undefined || tags.some((each) => each.toLowerCase() === tagged)) &&
      (mine === undefined || isMine(of, me) === (mine || others))
    );
  });
  return { names: new Set(names), others };
}

/** Returns a predicate that is true for owners whose id, name or e-mail address equals the wanted text. */
function ownerTest(accounts: Accounts, wanted = ''): (owner: Owner) => boolean {
  const userId = wanted.includes('@') ? userOfEmail(accounts, wanted)?.id : undefined;
  return ({ id, name }) =>
    id === wanted || name.toLowerCase() === wanted.toLowerCase() || (userId !== undefined && id === userId);
}

function describeCaller(accounts: Accounts, { id, teams }: Caller): Me {
  const named = teams.map((team) => ({ id: team, name: accounts.teams.get(team)?.name ?? '' }));
  return { id, email: accounts.users.get(id)?.email ?? null, teams: named };
}
