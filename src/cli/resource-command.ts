import type { Resource } from '../contract/resources/resource.ts';
import { connect } from './api.ts';
import type { Given } from './command.ts';
import type { Context } from './context.ts';
import { Reader } from './fields.ts';
import { ownerPath } from './find.ts';
import { UsageError } from './flags.ts';
import { articled, type VerbCommand } from './resource.ts';
import { verbs } from './resource-verbs.ts';

/**
 * Runs a command on a resource.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
export async function runResource(
  resource: Resource,
  { verb, word, action }: VerbCommand,
  given: Given,
  context: Context,
): Promise<number> {
  if (verb === 'delete') checkCanAsk(resource, word, given, context);
  if (verb === 'update') checkChanges(resource, given);
  const api = connect(context, given);
  const path = [...(await ownerPath(resource.within, given, api)), resource.collection];
  await verbs[verb]({ resource, given, context, api, reader: new Reader(context, api), path, action });
  return 0;
}

/** A script must confirm with `--yes`. @throws {UsageError} before any request */
function checkCanAsk({ one }: Resource, word: string, given: Given, { person }: Context): void {
  if (person !== undefined || given.has('yes')) return;
  const why = 'standard input is not a terminal';
  throw new UsageError(`Cannot ${word} ${articled(one)} without --yes: ${why}`);
}

/** @throws {UsageError} */
function checkChanges({ name, update }: Resource, given: Given): void {
  const flags = (update?.fields ?? []).map((flag) => flag.name);
  if (flags.some((flag) => given.has(flag))) return;
  const all = flags.map((flag) => `--${flag}`).join(', ');
  throw new UsageError(`Cannot use ${name} update without a change: give one of ${all}`);
}
