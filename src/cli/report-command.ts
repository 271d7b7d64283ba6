import {
  type CalendarRange,
  calendarRanges,
  dayAt,
  isTimeZone,
  startOfDay,
  unknownZone,
} from '../contract/calendar.ts';
import { resources } from '../contract/resources/resources.ts';
import { type Api, connect, type Item, type Query } from './api.ts';
import { resolveApplication } from './application.ts';
import type { Arguments } from './command.ts';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { buildQuery, Reader } from './fields.ts';
import { find } from './find.ts';
import { UsageError } from './options.ts';
import { printJson, printRows, printTable } from './print.ts';
import { environmentOption, type Report, readItems, type Sheet, times } from './report.ts';
import { printable, show } from './show.ts';

/**
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
export async function runReport(report: Report, given: Arguments, context: Context): Promise<number> {
  const api = connect(context, given);
  const application = await resolveApplication(context, api, given);
  const reader = new Reader(context, api, application);
  const fields = await reader.fields([environmentOption(report.of), ...report.fields, ...times], given);
  const query = { ...buildQuery(fields), ...namedRange(given, context.clock.now()) };
  const path = ['applications', String(application['id']), report.name];
  const format = given.value('format');
  if (format !== undefined) {
    await printRows(context, await api.rows(path, query, format));
    return 0;
  }
  const response = await api.read(path, query);
  if (given.has('json')) printJson(context, response);
  else {
    print(context, report, application, given, await readShown(report, given, api, path, response));
    if (isEmpty(response)) await checkExists(api, application, given);
  }
  return 0;
}

interface Shown {
  readonly response: Item;
  /** The overview of the environment; empty unless the report needs it. */
  readonly overview: Item;
  readonly more: Sheet | undefined;
}

/** Reads what the tables of a report need in addition to its response. @throws {Failure} */
async function readShown(
  report: Report,
  given: Arguments,
  api: Api,
  path: readonly string[],
  response: Item,
): Promise<Shown> {
  const query = { environment: String(response['environment']), compare: 'none' };
  const overview =
    report.withOverview && !given.has('step') ? await api.read([...path.slice(0, 2), 'overview'], query) : {};
  return { response, overview, more: await readMore(report, api) };
}

/** Returns the additional table of a report; `undefined` if the caller may not read it. @throws {Failure} */
async function readMore({ more }: Report, api: Api): Promise<Sheet | undefined> {
  if (more === undefined) return undefined;
  try {
    return more.table(await api.read(more.path, {}));
  } catch (error) {
    if (error instanceof Failure && error.kind === 'forbidden') return undefined;
    throw error;
  }
}

/**
 * Returns the query for a named range and its time zone.
 * @param now Unix ms
 * @throws {UsageError}
 */
function namedRange(given: Arguments, now: number): Query {
  const zone = given.value('time-zone');
  if (zone !== undefined && !isTimeZone(zone))
    throw new UsageError(`Cannot use --time-zone: ${unknownZone(zone.slice(0, 100))}`);
  const timeZone: Query = zone === undefined ? {} : { timeZone: zone };
  const name = given.value('range') as CalendarRange | undefined;
  if (name === undefined) return timeZone;
  if (given.has('from') || given.has('to'))
    throw new UsageError('Cannot use --range with --from or --to: --range sets both');
  const place = zone ?? 'UTC';
  const [from, to] = calendarRanges[name](dayAt(place, now)).map((day) => startOfDay(place, day));
  const time = (at: number) => new Date(at).toISOString();
  return { ...timeZone, from: time(from!), ...(to! <= now && { to: time(to!) }) };
}

function print(
  context: Context,
  report: Report,
  application: Item,
  given: Arguments,
  { response, overview, more }: Shown,
): void {
  const environment = response['environment'] ?? 'all environments';
  const about = [application['name'], environment, `${show(response['from'])} to ${show(response['to'])}`];
  context.out(`${printable(about.join(', '))}\n`);
  const headline = report.headline?.(response);
  if (headline !== undefined) context.out(`${printable(headline)}\n`);
  const options = new Set(report.fields.flatMap(({ name }) => (given.has(name) ? [name] : [])));
  const all = [...report.tables(response, options, overview), ...(more === undefined ? [] : [more])];
  const sheets = all.filter(({ items }) => items.length > 0);
  for (const { columns, items } of sheets) {
    context.out('\n');
    printTable(context, columns, items);
  }
  if (sheets.length === 0) context.err(`${report.empty}\n`);
}

function isEmpty(response: Item): boolean {
  return ['features', 'metrics'].every((field) => readItems(response, field).length === 0);
}

/** Checks an empty report: its feature or metric must exist. @throws {Failure} with the most similar name */
async function checkExists(api: Api, application: Item, given: Arguments): Promise<void> {
  for (const [flag, naming] of [
    ['feature', resources.features],
    ['metric', resources.metrics],
  ] as const) {
    const path = ['applications', String(application['id']), naming.collection];
    const name = given.value(flag);
    if (name !== undefined) await find(api, path, naming, name);
  }
}
