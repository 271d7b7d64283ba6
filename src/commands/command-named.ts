/** The command of this name in a table of commands, which may be the name of an earlier version. */
export function commandNamed<Name extends string>(
  commands: Readonly<Record<Name, unknown>>,
  word: string,
): Name | undefined {
  const name = word === 'engine' ? 'postgres' : word;
  return Object.hasOwn(commands, name) ? (name as Name) : undefined;
}
