import type { Health } from '../contract/shapes/health.ts';
import type { Home } from '../contract/shapes/home.ts';
import { envOption, option } from '../contract/shapes/option.ts';
import { type Api, connect, type Item, type Query } from './api.ts';
import { resolveApplication } from './application.ts';
import { clientCommand, tableNotes } from './client-command.ts';
import type { Arguments } from './command.ts';
import { jsonOption, urlOption } from './common-options.ts';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { environmentIn } from './find.ts';
import { printJson, printTable } from './print.ts';

export const health = clientCommand({
  name: 'health',
  summary: 'List what needs attention, the most urgent first',
  examples: ['health', 'health --app Shop --env Production'],
  options: [
    option('app APP', 'Application: id or name', { more: 'default: all applications, without --env' }),
    envOption('Environment name', { more: 'default: all environments' }),
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
  const api = connect(context, given);
  const isOne = given.has('app') || given.has('env');
  const response = await (isOne ? ofApplication(context, api, given) : api.read(['home'], {}));
  const { items, ...rest } = response as unknown as Health | Home;
  if (given.has('json')) printJson(context, response);
  else if (items.length > 0) printTable(context, isOne ? columns : columnsOfAll, items as unknown as readonly Item[]);
  else context.err('Nothing needs attention\n');
  if ('complete' in rest && !rest.complete) context.err('Not all applications have been checked yet\n');
  if ('itemsLeftOut' in rest && rest.itemsLeftOut > 0)
    context.err(`Omitted ${rest.itemsLeftOut} less urgent findings; use --app\n`);
  const urgent = items.filter(({ severity }) => severity === 'urgent').length;
  if (urgent === 1) throw new Failure('found', 'There is 1 urgent finding');
  if (urgent > 1) throw new Failure('found', `There are ${urgent} urgent findings`);
  return 0;
}

async function ofApplication(context: Context, api: Api, given: Arguments): Promise<Item> {
  const application = await resolveApplication(context, api, given);
  const named = given.value('env');
  const query: Query = named === undefined ? {} : { environment: environmentIn(application, named) };
  return api.read(['applications', String(application['id']), 'health'], query);
}

const columns = {
  severity: { label: 'Severity', state: true },
  text: 'Finding',
  subjects: { label: 'Subjects', cut: true },
  environment: { label: 'Environment', cut: true },
} as const;

const columnsOfAll = { application: { label: 'Application', cut: true }, ...columns } as const;
