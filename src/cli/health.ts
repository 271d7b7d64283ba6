import type { Health } from '../contract/shapes/health.ts';
import type { Home } from '../contract/shapes/home.ts';
import { option } from '../contract/shapes/option.ts';
import { type Api, connect, type Item, type Query } from './api.ts';
import { clientCommand, tableNotes } from './client-command.ts';
import type { Arguments } from './command.ts';
import { jsonOption, urlOption } from './common-options.ts';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { environmentIn, findApplication } from './find.ts';
import { UsageError } from './options.ts';
import { printJson, printTable } from './print.ts';

export const health = clientCommand({
  name: 'health',
  summary: 'List what needs attention, the most urgent first',
  options: [
    option('app APP', 'Application: id or name', { more: 'default: all applications' }),
    option('environment NAME', 'Environment name', { more: 'default: all environments' }),
    ...[urlOption, jsonOption],
  ],
  notes: `
Home and the flags page in the console show the same findings. Exit code 8: a finding is urgent.
Otherwise 0, also if there are warnings.
${tableNotes}`,
  run: listFindings,
});

/**
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if a finding is urgent, or the server refuses or cannot be reached
 */
async function listFindings(given: Arguments, context: Context): Promise<number> {
  if (given.has('environment') && !given.has('app')) throw new UsageError('Cannot use --environment without --app');
  const api = connect(context, given);
  const response = await (given.has('app') ? ofApplication(api, given) : api.read(['home'], {}));
  const { items, ...rest } = response as unknown as Health | Home;
  if (given.has('json')) printJson(context, response);
  else if (items.length > 0)
    printTable(context, given.has('app') ? columns : columnsOfAll, items as unknown as readonly Item[]);
  else context.err('Nothing needs attention\n');
  if ('complete' in rest && !rest.complete) context.err('Not all applications have been checked yet\n');
  if ('itemsLeftOut' in rest && rest.itemsLeftOut > 0)
    context.err(`Omitted ${rest.itemsLeftOut} less urgent findings; use --app\n`);
  const urgent = items.filter(({ severity }) => severity === 'urgent').length;
  if (urgent === 1) throw new Failure('found', 'There is 1 urgent finding');
  if (urgent > 1) throw new Failure('found', `There are ${urgent} urgent findings`);
  return 0;
}

async function ofApplication(api: Api, given: Arguments): Promise<Item> {
  const application = await findApplication(api, given.value('app') ?? '');
  const named = given.value('environment');
  const query: Query = named === undefined ? {} : { environment: environmentIn(application, named) };
  return api.read(['applications', String(application['id']), 'health'], query);
}

const columns = {
  severity: 'Severity',
  text: 'Finding',
  environment: { label: 'Environment', cut: true },
  subjects: { label: 'Subjects', cut: true },
} as const;

const columnsOfAll = { application: { label: 'Application', cut: true }, ...columns } as const;
