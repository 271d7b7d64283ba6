import type { AnyColumns } from '../contract/resources/column.ts';
import type { Action, Change, Creation, Resource, Secret } from '../contract/resources/resource.ts';
import { pick } from '../contract/shapes/fields.ts';
import { type Api, connect, type Item } from './api.ts';
import { resolveApplication } from './application.ts';
import type { Arguments } from './command.ts';
import type { Context } from './context.ts';
import { followDelivery } from './delivery.ts';
import { Failure } from './failure.ts';
import { buildQuery, Reader } from './fields.ts';
import { checkOnlyOne, find, missing, teamPath } from './find.ts';
import { UsageError } from './options.ts';
import { printJson, printRecord, printRows, printTable } from './print.ts';
import { confirm } from './prompt.ts';
import { articled, type Verb, type VerbCommand } from './resource.ts';
import { readFields } from './send.ts';
import { capital, formatLabel, printable, show, showBoth } from './show.ts';

/**
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
export async function runResource(
  resource: Resource,
  { verb, word, action }: VerbCommand,
  given: Arguments,
  context: Context,
): Promise<number> {
  if (verb === 'delete') checkCanAsk(resource, word, given, context);
  if (verb === 'update') checkChanges(resource, given);
  const api = connect(context, given);
  const application = resource.within === 'app' ? await resolveApplication(context, api, given) : undefined;
  const owner =
    application === undefined
      ? await (resource.within === 'team' ? teamPath(given, api) : [])
      : ['applications', String(application['id'])];
  const path = [...owner, resource.collection];
  const reader = new Reader(context, api, application);
  await verbs[verb]({ resource, given, context, api, reader, path, application, action });
  return 0;
}

/** Refuses a deletion by a script that does not give `--yes`. @throws {UsageError} before any request */
function checkCanAsk({ one }: Resource, word: string, given: Arguments, { person }: Context): void {
  if (person !== undefined || given.has('yes')) return;
  const why = 'standard input is not a terminal';
  throw new UsageError(`Cannot ${word} ${articled(one)} without --yes: ${why}`);
}

/** @throws {UsageError} */
function checkChanges({ name, update }: Resource, given: Arguments): void {
  const options = (update?.fields ?? []).map((option) => option.name);
  if (options.some((option) => given.has(option))) return;
  const all = options.map((option) => `--${option}`).join(', ');
  throw new UsageError(`Cannot use ${name} update without a change: give one of ${all}`);
}

interface Call {
  readonly resource: Resource;
  readonly given: Arguments;
  readonly context: Context;
  readonly api: Api;
  readonly reader: Reader;
  /** The API path of the resource's list. */
  readonly path: readonly string[];
  /** The application of a resource within an application. */
  readonly application: Item | undefined;
  /** The action of the verb `act`. */
  readonly action?: Action | undefined;
}

/** @throws {Failure | UsageError} */
export const verbs: Readonly<Record<Verb, (call: Call) => Promise<void>>> = {
  list,
  show: showOne,
  create,
  update,
  act,
  delete: remove,
};

async function list({ resource, given, context, api, reader, path }: Call): Promise<void> {
  const { one, many, columns, filters = [], defaultLimit } = resource;
  const query = buildQuery(await reader.fields(filters, given));
  const format = given.value('format');
  if (format !== undefined) return printRows(context, await api.rows(path, query, format));
  const limit = defaultLimit === undefined ? undefined : readLimit(given.value('limit'), defaultLimit);
  const items = await api.list(path, query, limit);
  printList(context, given, columns, items, many);
  if (given.has('fail-if-any') && items.length > 0) {
    const count = items.length === 1 ? `is 1 ${one}` : `are ${items.length} ${many}`;
    const caveats = filters.flatMap(({ name, caveat }) => {
      const value = given.value(name);
      return (value !== undefined && caveat?.(value)) || [];
    });
    throw new Failure('found', [`There ${count}`, ...caveats].join('. '));
  }
  if (items.length === limit) context.err(`There might be more than these ${limit}: see --limit, --from and --to\n`);
}

function printList(
  context: Context,
  given: Arguments,
  columns: AnyColumns,
  items: readonly Item[],
  many: string,
): void {
  if (given.has('json')) printJson(context, { items, nextCursor: null });
  else if (items.length === 0) context.err(`There are no ${many}\n`);
  else printTable(context, columns, items);
}

function readLimit(text: string | undefined, usual: number): number {
  if (text === undefined) return usual;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`Cannot use --limit ${text}: must be a whole number, at least 1`);
}

async function showOne(call: Call): Promise<void> {
  const { resource, given, context, api, path } = call;
  if (!resource.single) return printItem(context, given, await find(api, path, resource, given.operand));
  const { id } = await locate(call);
  printItem(context, given, readFields(await explained(call, id, (target) => api.call('GET', target))));
}

async function create({ resource, given, context, api, reader, path }: Call): Promise<void> {
  const { operand, put, fields, secret } = resource.create as Creation;
  const named = await reader.value(given.operand, operand, operand.name);
  const others = await reader.fields(fields, given);
  if (resource.oneOfAName) await checkOnlyOne(api, named, others);
  const made = put
    ? await api.call('PUT', [...path, String(named)], fields.length === 0 ? undefined : others)
    : await api.call('POST', path, { [operand.field ?? 'name']: named, ...others });
  printWithSecret(context, given, readFields(made), secret);
}

async function act(call: Call): Promise<void> {
  const { given, context, api, reader, action } = call;
  const { path, fields, columns, most, secret, method = 'POST', follow } = action as Action;
  const body = fields && (await reader.fields(fields, given));
  const { id, item } = await locate(call);
  await confirmEnd(call, item);
  await explained(call, id, async (target) => {
    const segments = path.map((each) => (each.startsWith('--') ? (given.value(each.slice(2)) ?? '') : each));
    const below = [...target, ...segments];
    if (columns !== undefined)
      return printList(context, given, columns, await api.list(below, {}, most), segments.join(' '));
    const made = readFields((await await api.call(method, below, body)) ?? { [call.resource.key]: id });
    const shown =
      follow === undefined ? made : await followDelivery(context, api, [...target, ...follow, String(made['id'])]);
    printWithSecret(context, given, shown, secret);
  });
}

/** Asks before a rotation if a previous key or secret is still accepted, because the rotation ends its validity. */
async function confirmEnd({ resource, given, context, api, path, action }: Call, item: Item): Promise<void> {
  const { one, key, alias = key, replaced } = resource;
  const { overlap } = action as Action;
  if (overlap === undefined || given.has('yes')) return;
  const isPrevious = (other: Item) => other[alias] === item[alias] && other[key] !== item[key];
  const previous = replaced === undefined ? [item] : (await api.list(path)).filter(isPrevious);
  const now = context.clock.now();
  const ending = previous.find((each) => Date.parse(String(each[overlap])) > now);
  if (ending === undefined) return;
  const what = replaced === undefined ? 'previous secret' : `previous ${one} ${ending[key]}`;
  const until = showBoth(String(ending[overlap]), now);
  const why = printable(`the ${what} is valid until ${until}, and another rotation ends its validity now`);
  if (context.person === undefined) throw new UsageError(`Cannot rotate ${given.operand} without --yes: ${why}`);
  await confirm(context.person, printable(`Rotate ${given.operand}? ${capital(why)}.`), 'Nothing was rotated');
}

function printWithSecret(context: Context, given: Arguments, made: Item, secret?: Secret): void {
  printItem(context, given, made);
  if (secret === undefined || made[secret.field] === undefined || made[secret.field] === null) return;
  if (Object.entries(secret.where ?? {}).every(([field, value]) => made[field] === value))
    context.err(`${formatLabel(secret.field)}: shown only once; keep it in a safe place\n`);
}

async function update(call: Call): Promise<void> {
  const { resource, given, context, api, reader } = call;
  const { fields, whole } = resource.update as Change;
  const changes = await reader.fields(fields, given);
  const { id } = await locate(call);
  if (resource.oneOfAName && changes['name'] !== undefined) await checkOnlyOne(api, changes['name'], { id });
  const made = await explained(call, id, async (target) => {
    if (whole === undefined) return api.call('PATCH', target, changes);
    const before = await find(api, call.path, resource, id);
    return api.call('PUT', target, { ...pick(before, whole), ...changes });
  });
  printItem(context, given, readFields(made));
}

function printItem(context: Context, given: Arguments, fields: Item): void {
  if (given.has('json')) printJson(context, fields);
  else printRecord(context, fields);
}

async function remove(call: Call): Promise<void> {
  const { resource, given, context, api, application } = call;
  const { one, key, remove: { word = 'delete', loses } = {} } = resource;
  const { person, err } = context;
  // An item and its successor can share a name. The name is ambiguous here, because either item could be meant.
  const { replaced: _, ...ambiguous } = resource;
  const { id, called } = await locate({ ...call, resource: ambiguous });
  const of = application === undefined ? '' : ` of ${show(application['name'])}`;
  const what = printable(`the ${one} ${called}${of} at ${api.url}`);
  const question = [`${capital(word)} ${what}?`, loses && `${loses}.`].filter(Boolean).join(' ');
  if (person !== undefined && !given.has('yes')) await confirm(person, question, `Nothing was ${word}d`);
  await explained(call, id, (target) => api.call('DELETE', target));
  if (given.has('json')) printJson(context, { [key]: id, deleted: true });
  else err(`${capital(word)}d ${what}\n`);
}

/** Finds an item. @returns the last segment of its path, and the name that people know */
async function locate({ resource, given, api, path }: Call): Promise<{ id: string; called: string; item: Item }> {
  const { key, alias } = resource;
  if (alias === undefined) return { id: given.operand, called: given.operand, item: { [key]: given.operand } };
  const item = await find(api, path, resource, given.operand);
  const id = String(item[key]);
  return { id, called: `${show(item[alias])} (${id})`, item };
}

/** Runs an operation on an item. If the item does not exist, the failure names the existing items. */
async function explained<T>(
  { resource, api, path }: Call,
  id: string,
  work: (target: readonly string[]) => Promise<T>,
): Promise<T> {
  try {
    return await work([...path, id]);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'notFound') throw error;
    const items = await api.list(path);
    throw items.some((item) => item[resource.key] === id) ? error : missing(items, resource, id);
  }
}
