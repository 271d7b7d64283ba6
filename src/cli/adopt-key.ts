import { connect } from './api.ts';
import { adoptCommand } from './client-commands.ts';
import { readGiven } from './command.ts';
import type { Context } from './context.ts';
import { findApplication } from './find.ts';
import { UsageError } from './flags.ts';
import { printJson, printRecord } from './print.ts';
import { itemsOf } from './report.ts';
import { fieldsOf } from './send.ts';
import { printable } from './show.ts';

/**
 * Adopts the token on standard input as a key of an application. No message repeats the token.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
export async function adoptKey(argv: readonly string[], context: Context): Promise<number> {
  const given = readGiven(adoptCommand, argv);
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
