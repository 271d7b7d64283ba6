import { ApiError } from '../contract/errors.ts';
import type { GivenOwner, Owner } from '../contract/shapes/owner.ts';
import type { Actor, Application, FlagOwner } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';

/** The names of users and teams. */
type People = Pick<Accounts, 'users' | 'teams' | 'apiKeys'>;

export const unknownOwner =
  'Cannot take owners: a user must be a member of the team of the application, and a team one of yours';
export const unnamedOwner = 'Cannot take owners: a text must have a name, and a user or team an id';

/**
 * The owners as stored, each once.
 * @param entry.actor may name only teams that it is in: others are not known to it
 * @param entry.before owners of the flag until now, which anyone may send back
 * @throws {ApiError} `invalid_body`
 */
export function enteredOwners(
  people: People,
  { teamId }: Pick<Application, 'teamId'>,
  given: readonly GivenOwner[],
  { actor, before }: { readonly actor: Actor; readonly before: readonly FlagOwner[] },
): readonly FlagOwner[] {
  const entered = given.map(({ type, id, name }): FlagOwner => {
    if (type === 'text') {
      if (name === undefined || name.trim() === '') throw new ApiError('invalid_body', unnamedOwner);
      return { type, id: null, name: name.trim() };
    }
    if (!id) throw new ApiError('invalid_body', unnamedOwner);
    const allowed = type === 'user' ? memberName(people, teamId, id) : ownTeamName(people, id, actor);
    const known = allowed ?? before.find((each) => each.type === type && each.id === id)?.name;
    if (known === undefined) throw new ApiError('invalid_body', unknownOwner);
    return { type, id, name: known };
  });
  return [...new Map(entered.map((each) => [`${each.type} ${each.id ?? each.name}`, each])).values()];
}

/** The tags as stored: trimmed, each once without regard to case. @throws {ApiError} `invalid_body` */
export function enteredTags(given: readonly string[]): readonly string[] {
  const tags = given.map((tag) => tag.trim());
  if (tags.includes('')) throw new ApiError('invalid_body', 'Cannot take tags: a tag must not be blank');
  const words = tags.map((tag) => tag.toLowerCase());
  return tags.filter((_, at) => words.indexOf(words[at]!) === at);
}

/**
 * Owners under their current names. One who was deleted, or has left the team of the application, becomes a text with the name
 * at the time of the declaration.
 */
export function showOwners(
  people: People,
  { teamId }: Pick<Application, 'teamId'>,
  owners: readonly FlagOwner[],
): Owner[] {
  return owners.map(({ type, id, name }): Owner => {
    const known = type === 'user' ? memberName(people, teamId, id) : people.teams.get(id ?? '')?.name;
    return type === 'text' || known === undefined
      ? { type: 'text', id: null, name }
      : { type, id, name: known };
  });
}

function memberName({ users }: People, teamId: string, id: string | null): string | undefined {
  const user = users.get(id ?? '');
  return user?.teams.includes(teamId) ? user.name || user.email : undefined;
}

function ownTeamName({ teams, users, apiKeys }: People, id: string, actor: Actor): string | undefined {
  const own = users.get(actor.id)?.teams ?? [apiKeys.get(actor.id)?.teamId];
  return actor.type === 'system' || own.includes(id) ? teams.get(id)?.name : undefined;
}
