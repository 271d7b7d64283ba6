/** The flags of a command that `loadConfig` reads, as arguments again. */
export function serverFlags(flags: ReadonlyMap<string, string>): string[] {
  return ['data', 'config'].flatMap((name) => (flags.has(name) ? [`--${name}=${flags.get(name)}`] : []));
}
