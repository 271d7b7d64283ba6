import { connect } from '../api.ts';
import { clientCommand } from '../client-command.ts';
import type { Given } from '../command.ts';
import { jsonFlag, urlFlag } from '../common-flags.ts';
import type { Context } from '../context.ts';
import { printJson, printRecord } from '../print.ts';
import { fieldsOf } from '../send.ts';
import { sourceOf } from '../session.ts';

export const whoami = clientCommand({
  name: 'whoami',
  summary: 'Show the server that commands use, and the user or API key they act as',
  flags: [urlFlag, jsonFlag],
  run: showCaller,
});

/**
 * Prints the server, and the user or API key that commands act as.
 * @throws {UsageError} for wrong flags
 * @throws {Failure} if there is no login, or the server cannot be reached
 */
async function showCaller(given: Given, context: Context): Promise<number> {
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
