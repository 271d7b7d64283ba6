/** The flags that say where the server's settings are, which other commands need too. */
export const serverFlagNames = ['data', 'config'] as const;

/** Those of a command's flags, as arguments again. */
export function serverFlags(flags: ReadonlyMap<string, string>): string[] {
  return serverFlagNames.flatMap((name) => (flags.has(name) ? [`--${name}=${flags.get(name)}`] : []));
}
