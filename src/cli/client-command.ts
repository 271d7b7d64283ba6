import { type Arguments, type Command, readGiven } from './command.ts';
import { type Context, createContext } from './context.ts';

export function clientCommand({
  run,
  ...declared
}: Omit<Command, 'run'> & { readonly run: (given: Arguments, context: Context) => Promise<number> }): Command {
  return { ...declared, run: async (argv, terminal) => run(readGiven(declared, argv), createContext(terminal)) };
}

export const tableNotes = `
On a terminal, tables are truncated to its width. Pipes, files and --json get everything.
`;
