import { clientVariables } from '../contract/client-variables.ts';
import type { Api, Item } from './api.ts';
import type { Arguments } from './command.ts';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { findApplication, listNames } from './find.ts';
import { UsageError } from './options.ts';
import { printable } from './show.ts';
import { openTokenStore } from './token-store.ts';

/** An application with the source of its name, such as `FLAGMETER_APP`. */
export interface ChosenApplication {
  readonly application: Item;
  readonly source: string;
}

/** The command that stores a default application. */
export const useCommand = 'flagmeter use';

/**
 * Returns the application in `--app`, `FLAGMETER_APP` or `flagmeter use`, in this order, or else the only application.
 * @throws {UsageError} if no application is named and there are several, with their names
 * @throws {Failure} if the application does not exist
 */
export async function resolveApplication(context: Context, api: Api, given: Arguments): Promise<Item> {
  return (await chooseApplication(context, api, given.value('app'))).application;
}

export async function chooseApplication(context: Context, api: Api, option?: string): Promise<ChosenApplication> {
  if (option !== undefined) return { application: await findApplication(api, option), source: '--app' };
  const variable = context.env[clientVariables.app];
  if (variable) return chooseFrom(api, clientVariables.app, variable);
  const stored = openTokenStore(context).read().servers[api.url]?.application;
  if (stored !== undefined) return chooseFrom(api, useCommand, stored);
  const items = await api.list(['applications']);
  const [only, ...others] = items;
  if (only !== undefined && others.length === 0) return { application: only, source: 'the only application' };
  if (only === undefined)
    throw new UsageError('The server has no application: create an application with flagmeter apps create NAME');
  const choose = `set ${clientVariables.app}, or run ${useCommand} APP`;
  throw new UsageError(
    `Cannot choose an application without --app: there is ${listNames(items, 'name')}; or ${choose}`,
  );
}

/** @throws {Failure} with the source of the name, if no application has this name */
async function chooseFrom(api: Api, source: string, named: string): Promise<ChosenApplication> {
  try {
    return { application: await findApplication(api, named), source };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const change = source === useCommand ? `choose another with ${useCommand} APP` : `change ${source}`;
    const from = `${printable(named)} is the default application of ${source}: ${change}, or give --app`;
    throw new Failure(error.kind, `${error.message}. ${from}`);
  }
}
