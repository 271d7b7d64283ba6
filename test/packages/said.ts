/** What a script of this folder has said, line by line, as NAME=VALUE. */
export function saidIn(output: string): Record<string, string> {
  const lines = output.trim().split(/\r?\n/);
  return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]));
}
