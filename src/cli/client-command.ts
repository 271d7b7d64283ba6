import { type Command, type Given, readGiven } from './command.ts';
import { type Context, contextOf } from './context.ts';

export function clientCommand({
  run,
  ...declared
}: Omit<Command, 'run'> & { readonly run: (given: Given, context: Context) => Promise<number> }): Command {
  return { ...declared, run: async (argv, terminal) => run(readGiven(declared, argv), contextOf(terminal)) };
}

export const tableNotes = `
On a terminal, tables are truncated to its width. Pipes, files and --json get everything.
`;
