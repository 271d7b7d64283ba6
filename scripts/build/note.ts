/** Prints a line about a built file. `--quiet` omits these lines: a person who starts the server needs only errors. */
export function note(line: string): void {
  if (!process.argv.includes('--quiet')) console.error(line);
}
