import { readFileSync } from 'node:fs';
import { postgres } from '../../src/commands/postgres.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `flagmeter engine …` as a script does. @param files texts of files that it may read, beside those on the disk */
export async function runPostgres(
  argv: readonly string[],
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  let out = '';
  let err = '';
  const code = await postgres(argv, {
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
