import { contextOf } from '../cli/context.ts';
import { readArguments, UsageError, unknownWord } from '../cli/flags.ts';
import { commandsOf } from '../cli/resource.ts';
import { runResource } from '../cli/resource-command.ts';
import { rotateSigningKeyCommand } from '../cli/server-commands.ts';
import type { Terminal } from '../cli/terminal.ts';
import { resources } from '../contract/resources/resources.ts';

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

export const signingKeys = oneOf('signing-keys', {
  rotate: async () => (await import('./rotate-signing-key.ts')).rotateSigningKeyNow,
});

export async function keys(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [word, ...rest] = argv;
  if (word === 'adopt') return (await import('../cli/adopt-key.ts')).adoptKey(rest, contextOf(terminal));
  if (word === 'rotate') checkNamesKey(rest);
  return runResource('keys', argv, contextOf(terminal), ['adopt']);
}

/** Earlier, `keys rotate` without a key rotated the signing key. @throws {UsageError} */
function checkNamesKey(argv: readonly string[]): void {
  const known = commandsOf(resources.keys).flatMap(({ command }) => command.flags);
  const given = [...readArguments(argv, [...rotateSigningKeyCommand.flags, ...known], 'keys rotate')];
  if (given.some(({ name }) => name === undefined)) return;
  throw new UsageError(
    'Cannot use keys rotate without KEY, an application key: flagmeter keys rotate KEY --app APP replaces it; flagmeter signing-keys rotate rotates the key that signs tokens',
  );
}

/** Each command is loaded when it is used. */
function oneOf(name: string, commands: Readonly<Record<string, () => Promise<Run>>>) {
  return async ([word, ...rest]: readonly string[], terminal: Terminal): Promise<number> => {
    const load = word !== undefined && Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (load === undefined) throw unknownWord(name, word, Object.keys(commands));
    return (await load())(rest, terminal);
  };
}
