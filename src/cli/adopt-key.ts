import { type } from '../contract/shapes/application-key.ts';
import { listValues, oneEnvOption, option } from '../contract/shapes/option.ts';
import { connect } from './api.ts';
import { resolveApplication } from './application.ts';
import { clientCommand } from './client-command.ts';
import type { Arguments } from './command.ts';
import { appOption, jsonOption, urlOption } from './common-options.ts';
import type { Context } from './context.ts';
import { environmentIn } from './find.ts';
import { UsageError } from './options.ts';
import { printJson, printRecord } from './print.ts';
import { readItems } from './report.ts';
import { readFields } from './send.ts';
import { printable } from './show.ts';

export const adoptKey = clientCommand({
  name: 'keys adopt',
  summary: 'Adopt an Unleash token as a key; the token is the first line of standard input',
  examples: ['keys adopt --env Production --type Backend < token'],
  options: [
    oneEnvOption('Environment of the token'),
    option('type TYPE', 'Type of the key', { required: true, values: listValues(type) }),
    option('name NAME', 'Key name', {
      more: 'default: the word Adopted and the type, with a number if that name is taken',
    }),
    ...[appOption, urlOption, jsonOption],
  ],
  run: adopt,
});

/**
 * Adopts a token. No message repeats the token.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
async function adopt(given: Arguments, context: Context): Promise<number> {
  const token = (context.readFile('-').split(/\r?\n/, 1)[0] ?? '').trim();
  if (token === '') throw new UsageError('Cannot adopt a token: standard input is empty');
  const api = connect(context, given);
  const application = await resolveApplication(context, api, given);
  const environment = environmentIn(application, given.value('env') ?? '');
  const type = given.value('type');
  const name = given.value('name');
  const body = { token, type, environment, ...(name !== undefined && { name }) };
  const key = readFields(await api.call('POST', ['applications', String(application['id']), 'keys', 'adopt'], body));
  if (given.has('json')) printJson(context, key);
  else printRecord(context, key);
  for (const { message } of readItems(key, 'warnings')) context.err(`Warning: ${printable(String(message))}\n`);
  return 0;
}
