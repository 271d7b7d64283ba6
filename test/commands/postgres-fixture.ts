import { readFileSync } from 'node:fs';
import { runCommand } from '../support/run-command.ts';

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `flagmeter postgres …` in a script. @param files texts of the files that the command can read, by path */
export async function runPostgres(
  argv: readonly string[],
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  let out = '';
  let err = '';
  const code = await runCommand(['postgres', ...argv], {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    interactive: false,
    env,
    readFile: (path) => files[path] ?? readFileSync(path, 'utf8'),
  });
  return { code, out, err };
}
