import { connect, type Item, type Query } from './api.ts';
import { type Given, readGiven } from './command.ts';
import type { Context } from './context.ts';
import { queryOf, Reader } from './fields.ts';
import { findApplication, missing } from './find.ts';
import { UsageError } from './flags.ts';
import { printJson, printRows, printTable } from './print.ts';
import { commandOf, itemsOf, type Report, range } from './report.ts';
import { type ReportName, reports } from './reports.ts';
import { printable, show } from './show.ts';

/**
 * Prints a report.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
export async function runReport(
  name: ReportName,
  argv: readonly string[],
  context: Context,
): Promise<number> {
  const report: Report = reports[name];
  const given = readGiven(commandOf(report), argv);
  const api = connect(context, given);
  const fields = queryOf(await new Reader(context, api).fields([...report.fields, ...range], given));
  const application = await findApplication(api, given.value('app') ?? '');
  const query = { ...fields, ...environmentOf(report, application, given) };
  const path = ['applications', String(application['id']), name];
  const format = given.value('format');
  if (format !== undefined) {
    await printRows(context, await api.rows(path, query, format));
    return 0;
  }
  const answer = await api.read(path, query);
  if (given.has('json')) printJson(context, answer);
  else print(context, report, application, given, answer);
  return 0;
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
  const all = names.length === 0 ? 'the application has none' : `there is ${printable(names.join(', '))}`;
  throw new UsageError(`Cannot use ${name} without --environment: ${all}`);
}

function print(context: Context, report: Report, application: Item, given: Given, answer: Item): void {
  const environment = answer['environment'] ?? 'all environments';
  const about = [application['name'], environment, `${show(answer['from'])} to ${show(answer['to'])}`];
  context.out(`${printable(about.join(', '))}\n`);
  if (report.headline) context.out(`${printable(report.headline(answer))}\n`);
  const flags = new Set(report.fields.flatMap(({ name }) => (given.has(name) ? [name] : [])));
  const sheets = report.tables(answer, flags).filter(({ items }) => items.length > 0);
  for (const { columns, items } of sheets) {
    context.out('\n');
    printTable(context, columns, items);
  }
  if (sheets.length === 0) context.err(`${report.empty}\n`);
}
