import { spawnSync } from 'node:child_process';

/**
 * Runs a program to its end.
 * @param debian the Debian package that contains the program
 * @returns its output
 * @throws {Error} if the program is missing or fails
 */
export function runTool(program: string, args: readonly string[], debian: string, cwd?: string): Buffer {
  const options = { cwd, env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 1 << 28 };
  const { error, status, stdout, stderr } = spawnSync(program, args, options);
  if (error !== undefined) throw new Error(`Cannot run ${program}: install it (Debian: apt-get install ${debian})`);
  if (status !== 0) throw new Error(`${program} failed: ${stderr.toString().trim()}`);
  return stdout;
}
