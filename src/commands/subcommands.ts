import { contextOf } from '../cli/context.ts';
import { unknownWord } from '../cli/flags.ts';
import { runResource } from '../cli/resource-command.ts';
import type { Terminal } from '../cli/terminal.ts';

type Run = (argv: readonly string[], terminal: Terminal) => number | Promise<number>;

/** Runs the command that the first argument names. @throws {UsageError} for an unknown one */
export const admin = oneOf('admin', {
  'reset-password': async () => (await import('./reset-password.ts')).resetPassword,
});

export const postgres = oneOf('postgres', {
  init: async () => (await import('./postgres-setup.ts')).postgresInit,
  status: async () => (await import('./postgres-status.ts')).postgresStatus,
  migrate: async () => (await import('./postgres-setup.ts')).postgresMigrate,
  'forget-node': async () => (await import('./postgres-forget-node.ts')).postgresForgetNode,
  adopt: async () => (await import('./postgres-adopt.ts')).postgresAdopt,
  key: async () => (await import('./postgres-setup.ts')).postgresKey,
  'encrypt-keys': async () => (await import('./postgres-setup.ts')).postgresEncryptKeys,
});

/** Rotates the key that signs tokens, or runs a command on the keys of an application. */
export async function keys(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [word, ...rest] = argv;
  if (word === 'rotate') return (await import('./keys-rotate.ts')).rotate(rest, terminal);
  if (word === 'adopt') return (await import('../cli/adopt-key.ts')).adoptKey(rest, contextOf(terminal));
  return runResource('keys', argv, contextOf(terminal), ['adopt', 'rotate']);
}

/** Each command is loaded when it is used. */
function oneOf(name: string, commands: Readonly<Record<string, () => Promise<Run>>>) {
  return async ([word, ...rest]: readonly string[], terminal: Terminal): Promise<number> => {
    const load = word !== undefined && Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (load === undefined) throw unknownWord(name, word, Object.keys(commands));
    return (await load())(rest, terminal);
  };
}
