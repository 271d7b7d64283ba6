import { UsageError } from '../flags.ts';
import { nearest } from '../nearest.ts';
import type { Api, Item } from './api.ts';
import type { Given } from './command.ts';
import { Failure } from './failure.ts';
import { plain } from './plain.ts';
import { fieldsOf } from './send.ts';

/** How the items of a list are named. */
export interface Called {
  readonly one: string;
  /** The field that is unique to each item. */
  readonly key: string;
  /** Another field that people may call it by. */
  readonly alias?: string;
}

/** Names that a message lists at most. */
const maxListed = 12;

/**
 * Finds the item with this key, or else the only one with this alias.
 * @throws {Failure} when there is none
 * @throws {UsageError} when there are several
 */
export async function find(api: Api, path: readonly string[], called: Called, named: string): Promise<Item> {
  const { one, key, alias } = called;
  const items = await api.list(path);
  const byKey = items.filter((item) => item[key] === named);
  const [found, ...others] =
    byKey.length > 0 ? byKey : items.filter((item) => alias && item[alias] === named);
  if (found === undefined) throw missing(items, called, named);
  if (others.length > 0) {
    const keys = [found, ...others].map((item) => item[key]).join(', ');
    throw new UsageError(`Cannot tell which ${one} is meant by ${named}: use one of ${plain(keys)}`);
  }
  return found;
}

/** Says that an item does not exist, and which name was probably meant. */
export function missing(items: readonly Item[], { one, key, alias = key }: Called, named: string): Failure {
  const names = items.map((item) => plain(String(item[alias])));
  const inOtherCase = names.find((name) => name.toLowerCase() === named.toLowerCase());
  const near = nearest(named, names);
  const hint =
    (inOtherCase !== undefined && `case matters, and there is ${inOtherCase}`) ||
    (near !== undefined && `the nearest is ${near}`) ||
    (names.length > 0 && names.length <= maxListed && `there is ${names.join(', ')}`);
  return new Failure('notFound', `There is no ${one} ${plain(named)}${hint ? `; ${hint}` : ''}`);
}

const application: Called = { one: 'application', key: 'id', alias: 'name' };
const team: Called = { one: 'team', key: 'id', alias: 'name' };
const user: Called = { one: 'user', key: 'id', alias: 'email' };

/** The application that is called so. @throws {Failure | UsageError} */
export function findApplication(api: Api, named: string): Promise<Item> {
  return find(api, ['applications'], application, named);
}

/** The id of the team that is called so. @throws {Failure | UsageError} */
export async function teamId(api: Api, named: string): Promise<string> {
  return String((await find(api, ['teams'], team, named))['id']);
}

/** The id of the user that is called so. @throws {Failure | UsageError} */
export async function userId(api: Api, named: string): Promise<string> {
  return String((await find(api, ['users'], user, named))['id']);
}

/** The path of what something belongs to: the application or the team that a flag names. @throws {Failure | UsageError} */
export async function ownerPath(
  within: 'app' | 'team' | undefined,
  given: Given,
  api: Api,
): Promise<readonly string[]> {
  const named = within && given.value(within);
  if (within === 'app') return ['applications', String((await findApplication(api, named ?? ''))['id'])];
  if (within !== 'team') return [];
  if (named !== undefined) return ['teams', await teamId(api, named)];
  const { primaryTeam } = fieldsOf(await api.call('GET', ['users', 'me']));
  if (typeof primaryTeam !== 'string') throw new UsageError('Cannot tell which team is meant: use --team');
  return ['teams', primaryTeam];
}
