import { execFile } from 'node:child_process';

/** Runs a program. @returns its standard output @throws {Error} with its standard error if it fails */
export function runCommand(command: string, args: readonly string[], input?: string): Promise<string> {
  return new Promise((done, failed) => {
    const child = execFile(command, args, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else failed(new Error(`${command} ${args.join(' ')} failed: ${stderr || error.message}`));
    });
    child.stdin?.end(input);
  });
}
