import { connect } from './api.ts';
import { type Given, readGiven } from './command.ts';
import type { Context } from './context.ts';
import { ownerPath } from './find.ts';
import { UsageError, unknownWord } from './flags.ts';
import { readerOf } from './reader.ts';
import { articled, commandsOf, type Resource, type VerbCommand } from './resource.ts';
import { verbs } from './resource-verbs.ts';
import { type ResourceName, resources } from './resources.ts';

/**
 * Runs the command on a resource that the first argument names; a log is listed without one.
 * @param more other words that its name can be followed by, for suggestions
 * @throws {UsageError} for what is no command, and wrong arguments
 * @throws {Failure} when the server refuses, or cannot be asked
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
  const reader = readerOf(context, api);
  const path = [...(await ownerPath(resource.within, given, api)), resource.collection];
  await verbs[verb]({ resource, given, context, api, reader, path, action });
  return 0;
}

/** @throws {UsageError} */
function choose(resource: Resource, said: string | undefined, more: readonly string[]): VerbCommand {
  const { name } = resource;
  const commands = commandsOf(resource);
  const chosen = commands.find(({ word }) => word === '' || word === said);
  if (chosen !== undefined) return chosen;
  throw unknownWord(name, said, [...commands.map(({ word }) => word), ...more]);
}

/** A script deletes nothing by accident. @throws {UsageError} before any request */
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
