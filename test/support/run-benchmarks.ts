/**
 * Runs benchmarks in one process, whenever a message has the arguments of `npm run bench`. The response has the exit
 * code and the output. Loading the benchmarks for each run took as long as a short benchmark.
 */
import { main } from '../../bench/main.ts';

/** The end of a benchmark. */
export interface BenchmarkOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const { stdout, stderr } = process;

process.on('message', async (args: string[]) => {
  const output = { stdout: '', stderr: '' };
  stdout.write = (text: string) => {
    output.stdout += text;
    return true;
  };
  stderr.write = (text: string) => {
    output.stderr += text;
    return true;
  };
  process.exitCode = 0;
  await main(args);
  process.send!({ code: Number(process.exitCode), ...output } satisfies BenchmarkOutput);
});
process.once('disconnect', () => process.exit());
