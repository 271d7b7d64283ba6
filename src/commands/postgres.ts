import { unknownWord } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';

type Run = (argv: readonly string[], terminal: Terminal) => number | Promise<number>;

/** Each is loaded when it is used. */
const commands: Readonly<Record<string, () => Promise<Run>>> = {
  init: async () => (await import('./postgres-init.ts')).postgresInit,
  status: async () => (await import('./postgres-status.ts')).postgresStatus,
  migrate: async () => (await import('./postgres-migrate.ts')).postgresMigrate,
  'forget-node': async () => (await import('./postgres-forget-node.ts')).postgresForgetNode,
  adopt: async () => (await import('./postgres-adopt.ts')).postgresAdopt,
  key: async () => (await import('./postgres-key.ts')).postgresKey,
};

/**
 * Does what its first argument says to the PostgreSQL that several nodes share.
 * @throws {UsageError} when that is nothing known, and as the subcommand does
 */
export async function postgres(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = argv;
  const load = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) throw unknownWord('postgres', name, Object.keys(commands));
  return (await load())(rest, terminal);
}
