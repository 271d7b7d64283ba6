import { connect } from './api.ts';
import { whoamiCommand } from './client-commands.ts';
import { readGiven } from './command.ts';
import type { Context } from './context.ts';
import { printJson, printRecord } from './print.ts';
import { fieldsOf } from './send.ts';
import { sourceOf } from './session.ts';

/**
 * Prints the server, and the user or API key that commands act as.
 * @throws {UsageError} for wrong flags
 * @throws {Failure} if there is no login, or the server cannot be reached
 */
export async function whoami(argv: readonly string[], context: Context): Promise<number> {
  const given = readGiven(whoamiCommand, argv);
  const api = connect(context, given);
  const me = fieldsOf(await api.call('GET', ['users', 'me']));
  if (given.has('json')) {
    printJson(context, me);
    return 0;
  }
  const { id, email, name, role, primaryTeam } = me;
  const teams = (await api.list(['teams'])).map((team) =>
    team['id'] === primaryTeam ? `${team['name']} (primary)` : String(team['name']),
  );
  printRecord(context, { server: api.url, by: sourceOf(context), id, email, name, role, teams });
  return 0;
}
