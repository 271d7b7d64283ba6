import { UsageError } from '../flags.ts';
import { type Api, connect, type Item, type Query } from './api.ts';
import { type Given, readGiven } from './command.ts';
import type { Context } from './context.ts';
import { findApplication, missing } from './lookup.ts';
import { plain } from './plain.ts';
import { printJson, printTable } from './print.ts';
import { commandOf, itemsOf, type Report } from './report.ts';
import { type ReportName, reports } from './reports.ts';
import { show } from './show.ts';
import { readTime } from './time.ts';

/**
 * Prints a report.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} when the server refuses, or cannot be asked
 */
export async function runReport(
  name: ReportName,
  argv: readonly string[],
  context: Context,
): Promise<number> {
  const report: Report = reports[name];
  const given = readGiven(commandOf(report), argv);
  const times = timesOf(given, context.clock.now());
  const api = connect(context, given);
  const application = await findApplication(api, given.value('app') ?? '');
  const query = {
    ...report.usual,
    ...environmentOf(report, application, given),
    ...ownOf(report, given),
    ...times,
  };
  const answer = await read(api, application, report, query);
  if (given.has('json')) printJson(context, answer);
  else print(context, report, application, given, answer);
  return 0;
}

function read(api: Api, { id }: Item, { name }: Report, query: Query): Promise<Item> {
  return api.read(['applications', String(id), name], query);
}

/** @throws {UsageError} */
function timesOf(given: Given, now: number): Query {
  const times = ['from', 'to'].flatMap((flag) => {
    const text = given.value(flag);
    return text === undefined ? [] : [[flag, readTime(text, flag, now)]];
  });
  return Object.fromEntries(times);
}

function ownOf({ flags }: Report, given: Given): Query {
  const own = flags.flatMap(({ name }) => (given.has(name) ? [[name, given.value(name)]] : []));
  return Object.fromEntries(own);
}

/** @throws {UsageError | Failure} */
function environmentOf({ name, of }: Report, application: Item, given: Given): Query {
  const environments = itemsOf(application, 'environments');
  const wanted = given.value('environment');
  if (wanted !== undefined) {
    if (environments.some((each) => each['name'] === wanted)) return { environment: wanted };
    throw missing(environments, { one: 'environment', key: 'name' }, wanted);
  }
  if (of === 'any environment') return {};
  const names = environments.map((each) => String(each['name']));
  if (names[0] !== undefined && names.length === 1) return { environment: names[0] };
  const all = names.length === 0 ? 'the application has none' : `there is ${plain(names.join(', '))}`;
  throw new UsageError(`Cannot use ${name} without --environment: ${all}`);
}

function print(context: Context, report: Report, application: Item, given: Given, answer: Item): void {
  const environment = answer['environment'] ?? 'all environments';
  const about = [application['name'], environment, `${show(answer['from'])} to ${show(answer['to'])}`];
  context.out(`${plain(about.join(', '))}\n`);
  if (report.headline) context.out(`${plain(report.headline(answer))}\n`);
  const flags = new Set(report.flags.flatMap(({ name }) => (given.has(name) ? [name] : [])));
  const sheets = report.tables(answer, flags).filter(({ items }) => items.length > 0);
  for (const { columns, items } of sheets) {
    context.out('\n');
    printTable(context, columns, items);
  }
  if (sheets.length === 0) context.err(`${report.empty}\n`);
}
