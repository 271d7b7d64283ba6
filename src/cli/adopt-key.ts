import { type } from '../contract/shapes/application-key.ts';
import { flag, valuesOf } from '../contract/shapes/option.ts';
import { connect } from './api.ts';
import { clientCommand } from './client-command.ts';
import type { Given } from './command.ts';
import { appFlag, jsonFlag, urlFlag } from './common-flags.ts';
import type { Context } from './context.ts';
import { findApplication } from './find.ts';
import { UsageError } from './flags.ts';
import { printJson, printRecord } from './print.ts';
import { itemsOf } from './report.ts';
import { fieldsOf } from './send.ts';
import { printable } from './show.ts';

export const adoptKey = clientCommand({
  name: 'keys adopt',
  summary: 'Adopt a token of Unleash as a key; standard input has the token on its first line',
  flags: [
    flag('environment NAME', 'Environment that the token stands for', { required: true }),
    flag('type TYPE', 'Type of the key', { required: true, values: valuesOf(type) }),
    flag('name NAME', 'Key name', { more: 'default: Adopted and the type' }),
    ...[appFlag, urlFlag, jsonFlag],
  ],
  run: adopt,
});

/**
 * No message repeats the token.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
async function adopt(given: Given, context: Context): Promise<number> {
  const token = (context.readFile('-').split(/\r?\n/, 1)[0] ?? '').trim();
  if (token === '') throw new UsageError('Cannot adopt a token: standard input is empty');
  const api = connect(context, given);
  const { id } = await findApplication(api, given.value('app') ?? '');
  const [type, environment, name] = ['type', 'environment', 'name'].map((flag) => given.value(flag));
  const body = { token, type, environment, ...(name !== undefined && { name }) };
  const key = fieldsOf(await api.call('POST', ['applications', String(id), 'keys', 'adopt'], body));
  if (given.has('json')) printJson(context, key);
  else printRecord(context, key);
  for (const { message } of itemsOf(key, 'warnings')) context.err(`Warning: ${printable(String(message))}\n`);
  return 0;
}
