/** Returns the NAME=VALUE lines in the output of a script of this folder. */
export function saidIn(output: string): Record<string, string> {
  const lines = output.trim().split(/\r?\n/);
  return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]));
}
