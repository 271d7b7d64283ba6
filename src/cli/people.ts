import { nothingStored } from '../contract/notes.ts';
import { connect } from './api.ts';
import { resolveApplication } from './application.ts';
import { clientCommand } from './client-command.ts';
import type { Arguments, Entry } from './command.ts';
import { appOption, jsonOption, urlOption, yesOption } from './common-options.ts';
import type { Context } from './context.ts';
import { UsageError } from './options.ts';
import { printJson } from './print.ts';
import { confirm } from './prompt.ts';
import { printable, show } from './show.ts';

const forget = clientCommand({
  name: 'people forget',
  summary: 'Delete the instance ids and exposures of an identity in every environment',
  examples: ['people forget user-4711 --app Shop'],
  operand: { name: 'IDENTITY', description: 'Identity in mint requests, or in packets that assert an identity' },
  options: [yesOption, appOption, urlOption, jsonOption],
  run: forgetIdentity,
});

export const people: Entry = {
  summary: 'Forget a person whose identity was in packets or mint requests',
  commands: [forget],
  notes: `
Totals and counts of unique users do not change. Earlier backups still contain the identity.
`,
};

/**
 * Sends the identity in the query of the request, because a path cannot contain every identity.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the person declines, or the server refuses or cannot be reached
 */
async function forgetIdentity(given: Arguments, context: Context): Promise<number> {
  const { person, err } = context;
  if (person === undefined && !given.has('yes'))
    throw new UsageError('Cannot forget an identity without --yes: standard input is not a terminal');
  const api = connect(context, given);
  const application = await resolveApplication(context, api, given);
  const identity = given.operand;
  const what = printable(`the identity ${identity} of ${show(application['name'])} at ${api.url}`);
  if (person !== undefined && !given.has('yes')) {
    const loses = 'The instance ids and exposures of the identity are deleted in every environment.';
    await confirm(person, `Forget ${what}? ${loses}`, 'Nothing was forgotten');
  }
  const path = ['applications', String(application['id']), 'identities'];
  const forgotten = (await api.remove(path, { identity })) !== nothingStored;
  if (given.has('json')) printJson(context, { identity, forgotten });
  else if (!forgotten) err(`Nothing was stored about ${what}\n`);
  else err(`Forgot ${what}. Totals and counts of unique users are unchanged\n`);
  return 0;
}
