import type { Resource } from '../contract/resources/resource.ts';
import { type ResourceName, resources } from '../contract/resources/resources.ts';
import { connect } from './api.ts';
import { type Given, readGiven } from './command.ts';
import type { Context } from './context.ts';
import { Reader } from './fields.ts';
import { ownerPath } from './find.ts';
import { UsageError, unknownWord } from './flags.ts';
import { articled, commandsOf, type VerbCommand } from './resource.ts';
import { verbs } from './resource-verbs.ts';

/**
 * Runs the command that the first argument names on a resource. A log has only one.
 * @param more other words that may follow its name, for suggestions
 * @throws {UsageError} for an unknown command, and wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
export async function runResource(
  name: ResourceName,
  argv: readonly string[],
  context: Context,
  more: readonly string[] = [],
): Promise<number> {
  const resource: Resource = resources[name];
  const { verb, word, command, action } = choose(resource, argv[0], more);
  const given = readGiven(command, word === '' ? argv : argv.slice(1));
  if (verb === 'delete') checkCanAsk(resource, word, given, context);
  if (verb === 'update') checkChanges(resource, given);
  const api = connect(context, given);
  const path = [...(await ownerPath(resource.within, given, api)), resource.collection];
  await verbs[verb]({ resource, given, context, api, reader: new Reader(context, api), path, action });
  return 0;
}

/** @throws {UsageError} */
function choose(resource: Resource, given: string | undefined, more: readonly string[]): VerbCommand {
  const commands = commandsOf(resource);
  const chosen = commands.find(({ word }) => word === '' || word === given);
  if (chosen !== undefined) return chosen;
  throw unknownWord(resource.name, given, [...commands.map(({ word }) => word), ...more]);
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
