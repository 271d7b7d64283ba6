import { type ResourceName, resources } from '../contract/resources/resources.ts';
import { clientCommand, tableNotes } from './client-command.ts';
import type { Entry } from './command.ts';
import { createCommands } from './resource.ts';
import { capital } from './show.ts';

export function resourceEntry(name: ResourceName): Entry {
  const resource = resources[name];
  const commands = createCommands(resource);
  const words = commands.filter(({ verb }) => verb !== 'show').map(({ word, verb }) => word || verb);
  return {
    summary: `${capital(new Intl.ListFormat('en-GB').format(words))} ${resource.many}`,
    commands: commands.map((each) =>
      clientCommand({
        ...each.command,
        run: async (given, context) =>
          (await import('./resource-verbs.ts')).runResource(resource, each, given, context),
      }),
    ),
    notes: tableNotes,
  };
}
