/**
 * The variables of a server: `THREADS=3` runs it with this number of front-end threads, unless its arguments name another.
 * Other executables, such as the previous release, may not have them.
 */
export function serverEnvironment(options: {
  readonly binary?: string;
  readonly env?: Readonly<Record<string, string>>;
}): Readonly<Record<string, string>> {
  const threads = process.env['THREADS'];
  const own = threads === undefined || options.binary !== undefined ? {} : { FLAGMETER_THREADS: threads };
  return { ...own, ...options.env };
}
