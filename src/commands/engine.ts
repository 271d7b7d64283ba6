import { unknownWord } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';

type Run = (argv: readonly string[], terminal: Terminal) => number | Promise<number>;

/** Each is loaded when it is used. */
const commands: Readonly<Record<string, () => Promise<Run>>> = {
  init: async () => (await import('./engine-init.ts')).engineInit,
  status: async () => (await import('./engine-status.ts')).engineStatus,
  migrate: async () => (await import('./engine-migrate.ts')).engineMigrate,
  'forget-node': async () => (await import('./engine-forget-node.ts')).engineForgetNode,
  adopt: async () => (await import('./engine-adopt.ts')).engineAdopt,
  key: async () => (await import('./engine-key.ts')).engineKey,
};

/**
 * Does what its first argument says to the PostgreSQL that several nodes share.
 * @throws {UsageError} when that is nothing known, and as the subcommand does
 */
export async function engine(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = argv;
  const load = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) throw unknownWord('engine', name, Object.keys(commands));
  return (await load())(rest, terminal);
}
