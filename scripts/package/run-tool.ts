import { spawnSync } from 'node:child_process';

/**
 * Runs a program to its end.
 * @param debian the Debian package that contains the program
 * @throws {Error} if the program is missing or fails
 */
export function runTool(
  program: string,
  args: readonly string[],
  debian: string,
  env: Readonly<Record<string, string>> = {},
): void {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C', ...env } } as const;
  const { error, status, stderr } = spawnSync(program, args, options);
  if (error !== undefined) throw new Error(`Cannot run ${program}: install it (Debian: apt-get install ${debian})`);
  if (status !== 0) throw new Error(`${program} failed: ${stderr.trim()}`);
}
