import { nearest } from '../contract/nearest.ts';
import type { ItemIdentity } from '../contract/resources/resource.ts';
import { resources } from '../contract/resources/resources.ts';
import type { Api, Item } from './api.ts';
import type { Arguments } from './command.ts';
import { Failure } from './failure.ts';
import { UsageError } from './options.ts';
import { readItems } from './report.ts';
import { readFields } from './send.ts';
import { printable, show } from './show.ts';

/** Maximum number of names that an error message lists. */
const maxListed = 12;

/**
 * Returns the item with this key, or else the only item with this alias.
 * @throws {Failure} if no item matches, or the item belongs to a team that the caller is not in
 * @throws {UsageError} if several items match
 */
export async function find(api: Api, path: readonly string[], naming: ItemIdentity, named: string): Promise<Item> {
  const { one, key, alias, replaced } = naming;
  const items = await api.list(path);
  const byKey = items.filter((item) => item[key] === named);
  const byAlias = items.filter((item) => alias && item[alias] === named);
  const current = byAlias.filter((item) => replaced && item[replaced] === null);
  const [found, ...others] = [byKey, current, byAlias].find(({ length }) => length > 0) ?? [];
  if (found === undefined) {
    const unlisted = await findUnlisted(api, path, naming, named);
    if (unlisted === undefined) throw missing(items, naming, named);
    return unlisted;
  }
  if (others.length > 0) {
    const keys = [found, ...others].map((item) => item[key]).join(', ');
    throw new UsageError(`More than one ${one} is named ${named}: use one of ${printable(keys)}`);
  }
  return found;
}

/** Pattern of the server's ids. */
const idPattern = /^[a-z]+_[\da-f]{24}$/;

/**
 * Reads an item by its id if the list lacks the item. The list contains only items of the caller's teams.
 * @returns `undefined` if the item does not exist
 * @throws {Failure} if the item belongs to another team
 */
async function findUnlisted(
  api: Api,
  path: readonly string[],
  { single }: ItemIdentity,
  named: string,
): Promise<Item | undefined> {
  if (!single || !idPattern.test(named)) return undefined;
  try {
    return readFields(await api.call('GET', [...path, named]));
  } catch (error) {
    if (error instanceof Failure && error.kind === 'notFound') return undefined;
    throw error;
  }
}

/** Returns the failure for an item that does not exist. It suggests a similar name. */
export function missing(items: readonly Item[], { one, key, alias = key }: ItemIdentity, named: string): Failure {
  const names = items.map((item) => printable(String(item[alias])));
  const inOtherCase = names.find((name) => name.toLowerCase() === named.toLowerCase());
  const near = nearest(named, names);
  const hint =
    (inOtherCase !== undefined && `case matters, and there is ${inOtherCase}`) ||
    (near !== undefined && `the nearest is ${near}`) ||
    (names.length > 0 && `there is ${listNames(items, alias)}`);
  return new Failure('notFound', `There is no ${one} ${printable(named)}${hint ? `; ${hint}` : ''}`);
}

/** Lists the names of items, up to a limit. */
export function listNames(items: readonly Item[], field: string): string {
  const names = items.slice(0, maxListed).map((item) => printable(show(item[field])));
  const more = items.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

export function findApplication(api: Api, named: string): Promise<Item> {
  return find(api, ['applications'], resources.apps, named);
}

/**
 * Returns an environment of an application. An empty name stands for the only environment.
 * @throws {UsageError} for an empty name if there are several environments
 * @throws {Failure} if the environment does not exist
 */
export function environmentIn(application: Item, named: string): string {
  const environments = readItems(application, 'environments');
  if (named === '') {
    const [only, ...others] = environments;
    if (only !== undefined && others.length === 0) return String(only['name']);
    const all = only === undefined ? 'no environments' : listNames(environments, 'name');
    throw new UsageError(`Cannot choose an environment without --env: ${show(application['name'])} has ${all}`);
  }
  if (environments.some(({ name }) => name === named)) return named;
  throw missing(environments, { one: 'environment', key: 'name' }, named);
}

export async function teamId(api: Api, named: string): Promise<string> {
  return String((await find(api, ['teams'], resources.teams, named))['id']);
}

export async function userId(api: Api, named: string): Promise<string> {
  return String((await find(api, ['users'], resources.users, named))['id']);
}

export async function ownerIn(api: Api, text: string): Promise<Item> {
  if (text.startsWith('user:')) return { type: 'user', id: await userId(api, text.slice(5)) };
  if (text.startsWith('team:')) return { type: 'team', id: await teamId(api, text.slice(5)) };
  return { type: 'text', name: text };
}

/** Returns the path of the team that `--team` names, or else of the primary team. @throws {Failure | UsageError} */
export async function teamPath(given: Arguments, api: Api): Promise<readonly string[]> {
  const named = given.value('team');
  if (named !== undefined) return ['teams', await teamId(api, named)];
  const primary = await primaryTeam(api);
  if (typeof primary !== 'string') throw new UsageError('You have no primary team: use --team');
  return ['teams', primary];
}

/**
 * Rejects a name that another application of the team already has. The API itself allows equal names.
 * @param id of the application that gets the name; `undefined` for a new application
 * @param teamId team of a new application; by default the caller's primary team
 * @throws {Failure} `conflict`, with the id of the first application
 */
export async function checkOnlyOne(
  api: Api,
  name: unknown,
  { id, teamId }: { readonly id?: string | undefined; readonly teamId?: unknown },
): Promise<void> {
  const items = await api.list(['applications']);
  const named = items.filter((item) => item['name'] === name && item['id'] !== id);
  if (named.length === 0) return;
  const team =
    id === undefined ? (teamId ?? (await primaryTeam(api))) : items.find((item) => item['id'] === id)?.['teamId'];
  const first = named.find((item) => item['teamId'] === team);
  if (first === undefined) return;
  throw new Failure(
    'conflict',
    printable(`The team already has an application ${name} (${first['id']}); use it, or choose another name`),
  );
}

async function primaryTeam(api: Api): Promise<unknown> {
  return readFields(await api.call('GET', ['users', 'me']))['primaryTeam'];
}
