import { requireBinary } from '../test/support/binary.ts';
import { isEnclosed, runEnclosed } from './enclosure.ts';
import { readOptions, usage } from './options.ts';
import { type Result, run } from './run.ts';

/** Lets nodes, engine and network fail at random, and says whether everything that was promised held. */
async function main(args: string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  const options = readOptions(args);
  requireBinary(options.binary);
  const { seed, folder } = options;
  if (!isEnclosed) return runEnclosed([...args, '--seed', String(seed), '--folder', folder], folder);
  const result = await run(options);
  process.stdout.write(summary(result, options.seed, options.folder));
  return result.journal.violations.length === 0 ? 0 : 1;
}

function summary({ rounds, journal }: Result, seed: number, folder: string): string {
  const counts = [...journal.counts].sort().map(([name, count]) => `  ${name.padEnd(50)} ${count}`);
  const violations = journal.violations.map((text) => `  ${text}`);
  return [
    `seed ${seed}, ${rounds} rounds, logs in ${folder}`,
    ...counts,
    `${violations.length} violations`,
    ...violations,
    '',
  ].join('\n');
}

// Servers are waited for by handles that keep no process alive: without this one, it could end before its summary, and with 0.
process.exitCode = 2;
setInterval(() => {}, 60_000);

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error) => {
    process.stderr.write(`${error instanceof TypeError ? error.message : (error.stack ?? error.message)}\n`);
    process.exit(2);
  },
);
