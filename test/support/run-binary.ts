import { execFile } from 'node:child_process';
import { binaryPath, freshDirectory } from './binary.ts';
import { patienceMs } from './patience.ts';

/** The end of a process. */
export interface ExitResult {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, in an empty directory and without standard input. */
export function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  timeout = patienceMs,
): Promise<ExitResult> {
  const options = {
    cwd: freshDirectory(),
    env: { PATH: process.env['PATH'], ...env },
    timeout,
    killSignal: 'SIGKILL', // It may not end on its own after this.
  } as const;
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr });
    });
    child.stdin?.end();
  });
}

/** Runs the executable to its end, like `runProgram`. */
export function runBinary(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  timeout?: number,
): Promise<ExitResult> {
  return runProgram(binaryPath, args, env, timeout);
}
