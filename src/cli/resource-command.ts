import { UsageError } from '../flags.ts';
import { nearestKnown } from '../nearest.ts';
import { type Api, type Item, openApi } from './api.ts';
import { type Given, readGiven } from './command.ts';
import { Failure } from './failure.ts';
import { plain } from './plain.ts';
import { articled, commandsOf, type Resource, type Verb } from './resource.ts';
import { type ResourceName, resources } from './resources.ts';
import { readSecretFile } from './secret-file.ts';
import { fieldsOf } from './send.ts';
import { openAccess, serverUrlOf } from './session.ts';
import { labelOf, show } from './show.ts';
import type { Surroundings } from './surroundings.ts';
import { recordText, tableText } from './table.ts';

/** One command on a resource. */
interface Call {
  readonly resource: Resource;
  readonly given: Given;
  readonly surroundings: Surroundings;
  readonly api: Api;
  /** Where the resource is: the path of its list. */
  readonly path: readonly string[];
}

const verbs: Readonly<Record<Verb, (call: Call) => Promise<void>>> = { list, create, delete: remove };

/**
 * Does what the first argument says with a resource, with the arguments after it.
 * @param more other words that its name can be followed by, for suggestions
 * @throws {UsageError} for what is no command, and wrong arguments
 * @throws {Failure} when the server refuses, or cannot be asked
 */
export async function runResource(
  name: ResourceName,
  [verb, ...argv]: readonly string[],
  surroundings: Surroundings,
  more: readonly string[] = [],
): Promise<number> {
  const resource: Resource = resources[name];
  const words = [...Object.keys(verbs), ...more];
  if (verb === undefined) throw new UsageError(`Cannot use ${name} alone: say ${words.join(', ')}`);
  if (!isVerb(verb))
    throw new UsageError(
      `Unknown command ${name} ${verb}${nearestKnown(verb, words, `${name} `) || `: say ${words.join(', ')}`}`,
    );
  const given = readGiven(commandsOf(resource)[verb], argv);
  if (verb === 'delete') checkCanAsk(resource, given, surroundings);
  const url = serverUrlOf(surroundings, given.value('url'));
  const api = openApi(surroundings, url, openAccess(surroundings, url));
  const path = [...(await ownerPath(resource, given, api)), resource.collection];
  await verbs[verb]({ resource, given, surroundings, api, path });
  return 0;
}

/** A script deletes nothing by accident. @throws {UsageError} before anything is asked of the server */
function checkCanAsk({ one }: Resource, given: Given, { person }: Surroundings): void {
  if (person !== undefined || given.has('yes')) return;
  const why = 'there is no terminal to ask whether it is meant';
  throw new UsageError(`Cannot delete ${articled(one)} without --yes: ${why}`);
}

function isVerb(word: string): word is Verb {
  return Object.hasOwn(verbs, word);
}

async function list({ resource, given, surroundings, api, path }: Call): Promise<void> {
  const filters = (resource.filters ?? []).flatMap(({ name }) => {
    const value = given.value(name);
    return value === undefined ? [] : [[name, value]];
  });
  const items = await api.list(path, Object.fromEntries(filters));
  if (given.has('json')) return surroundings.out(`${JSON.stringify({ items, nextCursor: null })}\n`);
  if (items.length === 0) return surroundings.err(`There are no ${resource.many}\n`);
  const titles = resource.columns.map(({ title }) => title);
  const rows = items.map((item) => resource.columns.map((column) => show(column.of(item))));
  surroundings.out(tableText(titles, rows, surroundings.bold));
}

async function create({ resource, given, surroundings, api, path }: Call): Promise<void> {
  const { put, body, secretOf } = resource.create;
  const wanted = await body(given, {
    teamId: (named) => idOf(api, ['teams'], 'team', named),
    secretFile: (flag) => {
      const file = given.value(flag);
      return file === undefined ? undefined : readSecretFile(flag, file, surroundings);
    },
  });
  const made = put
    ? await api.call('PUT', [...path, given.operand], wanted)
    : await api.call('POST', path, wanted);
  const fields = fieldsOf(made);
  if (given.has('json')) surroundings.out(`${JSON.stringify(made)}\n`);
  else
    surroundings.out(recordText(Object.entries(fields).map(([name, value]) => [labelOf(name), show(value)])));
  const secret = secretOf?.(fields);
  if (secret !== undefined)
    surroundings.err(`${labelOf(secret)}: it is shown this once only; keep it in a safe place\n`);
}

async function remove({ resource, given, surroundings, api, path }: Call): Promise<void> {
  const { one, key, alias, loses } = resource;
  const found = alias === undefined ? undefined : await find(api, path, { one, key, alias }, given.operand);
  const target = String(found === undefined ? given.operand : found[key]);
  const called = found === undefined ? target : `${show(found[alias ?? key])} (${target})`;
  const what = plain(`the ${one} ${called} at ${api.url}`);
  const { person, err } = surroundings;
  if (person !== undefined && !given.has('yes')) {
    const answer = await person.ask(`Delete ${what}${loses ? `: ${loses}` : ''}? y or n: `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('failed', 'Nothing was deleted');
  }
  await api.call('DELETE', [...path, target]);
  err(`Deleted ${what}\n`);
}

/** The path of what a resource belongs to. */
async function ownerPath({ within }: Resource, given: Given, api: Api): Promise<string[]> {
  const named = within && given.value(within);
  if (within === 'app')
    return ['applications', await idOf(api, ['applications'], 'application', named ?? '')];
  if (within !== 'team') return [];
  if (named !== undefined) return ['teams', await idOf(api, ['teams'], 'team', named)];
  const { primaryTeam } = fieldsOf(await api.call('GET', ['users', 'me']));
  if (typeof primaryTeam !== 'string') throw new UsageError('Cannot tell which team is meant: use --team');
  return ['teams', primaryTeam];
}

async function idOf(api: Api, path: readonly string[], one: string, named: string): Promise<string> {
  const found = await find(api, path, { one, key: 'id', alias: 'name' }, named);
  return String(found['id']);
}

/**
 * What of a list is called by its key, or else, when that is only one, by its alias.
 * @throws {Failure} when there is none
 * @throws {UsageError} when there are several
 */
async function find(
  api: Api,
  path: readonly string[],
  { one, key, alias }: { one: string; key: string; alias: string },
  named: string,
): Promise<Item> {
  const items = await api.list(path);
  const byKey = items.filter((item) => item[key] === named);
  const [found, ...others] = byKey.length > 0 ? byKey : items.filter((item) => item[alias] === named);
  if (found === undefined) throw new Failure('notFound', `There is no ${one} ${named}`);
  if (others.length > 0) {
    const keys = [found, ...others].map((item) => item[key]).join(', ');
    throw new UsageError(`Cannot tell which ${one} is meant by ${named}: use one of ${plain(keys)}`);
  }
  return found;
}
