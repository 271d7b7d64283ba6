import { Refusal } from '../contract/errors.ts';
import { type GivenOwner, maxOwners, type Owner, type OwnersFrom } from '../contract/shapes/owner.ts';
import type { Actor, Application, FeatureDeclaration, FeatureOwner, User } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';
import { codeOwnersIn } from './code-scans.ts';
import { userOfEmail } from './users.ts';

type OwnerAccounts = Pick<Accounts, 'users' | 'teams' | 'apiKeys'>;

const unknownOwner = '`owners` must list only members of the team of the application, your own teams, and texts';
const unnamedOwner = '`owners` must have the name of each text, and the id of each user or team';

/**
 * Converts the given owners to their stored form, without duplicates.
 * @param entry.actor the caller, who may add only teams that the caller is in
 * @param entry.before the current owners of the feature, which every caller may keep
 * @throws {Refusal} `invalid_body`
 */
export function enteredOwners(
  accounts: OwnerAccounts,
  { teamId }: Pick<Application, 'teamId'>,
  given: readonly GivenOwner[],
  { actor, before }: { readonly actor: Actor; readonly before: readonly FeatureOwner[] },
): readonly FeatureOwner[] {
  const entered = given.map(({ type, id, name }): FeatureOwner => {
    if (type === 'text') {
      if (name === undefined || name.trim() === '') throw new Refusal('invalid_body', unnamedOwner);
      return { type, id: null, name: name.trim() };
    }
    if (!id) throw new Refusal('invalid_body', unnamedOwner);
    const allowed = type === 'user' ? memberName(accounts, teamId, id) : ownTeamName(accounts, id, actor);
    const known = allowed ?? before.find((each) => each.type === type && each.id === id)?.name;
    if (known === undefined) throw new Refusal('invalid_body', unknownOwner);
    return { type, id, name: known };
  });
  return [...new Map(entered.map((each) => [`${each.type} ${each.id ?? each.name}`, each])).values()];
}

/** Converts tags to their stored form: trimmed, unique ignoring case. @throws {Refusal} `invalid_body` */
export function enteredTags(given: readonly string[]): readonly string[] {
  const tags = given.map((tag) => tag.trim());
  if (tags.includes('')) throw new Refusal('invalid_body', '`tags` must not contain blank tags');
  const words = tags.map((tag) => tag.toLowerCase());
  return tags.filter((_, at) => words.indexOf(words[at]!) === at);
}

/**
 * Returns owners with their current names. Deleted owners, and users who have left the application's team, are returned
 * as texts with the declared names.
 */
function showOwners(
  accounts: OwnerAccounts,
  { teamId }: Pick<Application, 'teamId'>,
  owners: readonly FeatureOwner[],
): Owner[] {
  return owners.map(({ type, id, name }): Owner => {
    const known = type === 'user' ? memberName(accounts, teamId, id) : accounts.teams.get(id ?? '')?.name;
    return type === 'text' || known === undefined ? { type: 'text', id: null, name } : { type, id, name: known };
  });
}

function memberName({ users }: OwnerAccounts, teamId: string, id: string | null): string | undefined {
  const user = users.get(id ?? '');
  return user?.teams.includes(teamId) ? user.name || user.email : undefined;
}

function ownTeamName({ teams, users, apiKeys }: OwnerAccounts, id: string, actor: Actor): string | undefined {
  const own = users.get(actor.id)?.teams ?? [apiKeys.get(actor.id)?.teamId];
  return actor.type === 'system' || own.includes(id) ? teams.get(id)?.name : undefined;
}

export interface Owners {
  readonly owners: readonly Owner[];
  readonly ownersFrom: OwnersFrom;
}

export const noOwners: Owners = { owners: [], ownersFrom: null };

export function showOwned(declaration: FeatureDeclaration | undefined, { owners, ownersFrom }: Owners = noOwners) {
  return { owners: [...owners], ownersFrom, tags: [...(declaration?.tags ?? [])] };
}

export type FindUser = (email: string) => User | undefined;

/**
 * Returns the declared owners of a feature or, without them, the owners of its files according to CODEOWNERS.
 * @param findUser finds a user by e-mail address; by default it compares all users
 */
export function findOwners(
  accounts: Accounts,
  application: Application,
  name: string,
  declaration: FeatureDeclaration | undefined,
  findUser: FindUser = (email) => userOfEmail(accounts, email),
): Owners {
  const declared = declaration?.owners ?? [];
  if (declared.length > 0) return { owners: showOwners(accounts, application, declared), ownersFrom: 'declaration' };
  const scans = [...accounts.getScans(application.id).values()];
  const named = codeOwnersIn(scans).get(name);
  if (named === undefined) return noOwners;
  const owners = named.slice(0, maxOwners).map((each) => codeOwner(application, each, findUser));
  return { owners, ownersFrom: 'codeowners' };
}

/** Returns the member with an e-mail address from CODEOWNERS. Names such as `@ada` are accounts at the code host. */
function codeOwner({ teamId }: Application, name: string, findUser: FindUser): Owner {
  const user = name.startsWith('@') ? undefined : findUser(name);
  if (!user?.teams.includes(teamId)) return { type: 'text', id: null, name };
  return { type: 'user', id: user.id, name: user.name || user.email };
}
