import { requireBinary } from '../test/support/binary.ts';
import { isEnclosed, runEnclosed } from './enclosure.ts';
import { Journal } from './journal.ts';
import { readOptions, usage } from './options.ts';
import { run } from './run.ts';
import { exitCodes, Verdict } from './verdict.ts';

/** Injects random faults into nodes, PostgreSQL and the network. Reports violations of the guarantees of a cluster. */
async function main(args: string[]): Promise<number | undefined> {
  if (args.includes('--help')) {
    process.stdout.write(usage);
    return exitCodes.held;
  }
  const options = readOptions(args);
  requireBinary(options.binary);
  const { seed, folder } = options;
  if (!isEnclosed) return runEnclosed([...args, '--seed', String(seed), '--folder', folder], folder);
  const journal = new Journal(folder);
  const verdict = new Verdict(journal, `seed ${seed}`);
  verdict.endWith(process.stdin);
  verdict.complete(await run(options, journal));
  return undefined;
}

process.exitCode = exitCodes.incomplete;
// This timer keeps the process running, because the handles of the servers do not.
setInterval(() => {}, 60_000);

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error) => {
    process.stderr.write(`${error instanceof TypeError ? error.message : (error.stack ?? error.message)}\n`);
    process.exit(exitCodes.incomplete);
  },
);
