import { execFile } from 'node:child_process';
import { binaryPath, freshDirectory } from './binary.ts';
import { patienceMs } from './patience.ts';

/** The end of a program, and its output. */
export interface ExitResult {
  /** `null` if a signal ended the process. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end in an empty directory, without standard input. */
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
    killSignal: 'SIGKILL', // SIGKILL, because a process may ignore other signals.
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
