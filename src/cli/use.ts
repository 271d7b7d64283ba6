import { clientVariables } from '../contract/client-variables.ts';
import { connect } from './api.ts';
import { chooseApplication, useCommand } from './application.ts';
import { clientCommand } from './client-command.ts';
import type { Arguments } from './command.ts';
import { jsonOption, urlOption } from './common-options.ts';
import type { Context } from './context.ts';
import { findApplication } from './find.ts';
import { UsageError } from './options.ts';
import { printJson, printRecord } from './print.ts';
import { describeSource } from './session.ts';
import { printable, show } from './show.ts';
import { openTokenStore, withSession } from './token-store.ts';

export const use = clientCommand({
  name: 'use',
  summary: 'Set or show the default application of --app',
  examples: ['use Shop', 'use'],
  operand: { name: 'APP', optional: true, description: 'Application: id or name' },
  options: [urlOption, jsonOption],
  notes: `
The default is stored with the login of the server, and ends with flagmeter logout. --app and
FLAGMETER_APP take precedence. Without a default, commands use the only application.
`,
  run: useApplication,
});

/**
 * @throws {UsageError} for wrong arguments, without a login, and if there are several applications and no default
 * @throws {Failure} if no user is signed in, the application does not exist, or the server cannot be reached
 */
async function useApplication(given: Arguments, context: Context): Promise<number> {
  const api = connect(context, given);
  if (given.operand === '') {
    const { application, source } = await chooseApplication(context, api);
    const { id, name } = application;
    const shown = { server: api.url, application: name, id, source };
    if (given.has('json')) printJson(context, shown);
    else printRecord(context, shown);
    return 0;
  }
  const application = await findApplication(api, given.operand);
  const { id, name } = application;
  const store = openTokenStore(context);
  await store.exclusively(async () => {
    const stored = store.read();
    const session = stored.servers[api.url];
    if (session === undefined)
      throw new UsageError(
        `Cannot store a default application with ${describeSource(context)}: set ${clientVariables.app}, or give --app`,
      );
    store.write(withSession(stored, api.url, { ...session, application: String(id) }));
  });
  if (given.has('json')) printJson(context, { server: api.url, application: name, id, source: useCommand });
  else context.err(`Commands at ${api.url} use the application ${printable(show(name))} (${id})\n`);
  return 0;
}
