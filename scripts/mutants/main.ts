/** `npm run mutants`: removes rules of the service, one at a time, and reports which test finds each removal. */
import { parseArgs } from 'node:util';
import { buildIfStale } from '../test/build.ts';
import { type Mutant, removeRule } from './mutant.ts';
import { type Finding, runMutants } from './run.ts';
import { mutants } from './table.ts';

const usage = `npm run mutants -- [RULE…] [--apply]

Removes each rule in a copy of the tree, and runs the test that must find the removal. Exits with 1 if a test does not find it, or
fails with the rule in place.

  RULE     Rules to remove; all without it: ${Object.keys(mutants).join(', ')}
  --apply  Removes the rules in this tree and runs nothing, for npm run chaos; git restore src brings them back
`;

async function main(): Promise<number> {
  const options = { apply: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const chosen = selected(positionals);
  if (values.apply) {
    for (const [, mutant] of chosen) removeRule('.', mutant);
    return 0;
  }
  if (buildIfStale() !== 0) return 1;
  return report(chosen);
}

/** @throws {TypeError} for an unknown rule */
function selected(names: readonly string[]): [string, Mutant][] {
  const unknown = names.find((name) => !Object.hasOwn(mutants, name));
  if (unknown !== undefined) throw new TypeError(`Unknown rule '${unknown}': npm run mutants -- --help lists them`);
  return Object.entries(mutants).filter(([name]) => names.length === 0 || names.includes(name));
}

async function report(chosen: readonly [string, Mutant][]): Promise<number> {
  const width = Math.max(...chosen.map(([name]) => name.length));
  const missed: string[] = [];
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  console.log(`Running the tests of ${chosen.length} rules with all rules in place`);
  await runMutants(chosen, stop.signal, (name, { found, seconds, message }: Finding) => {
    if (!found) missed.push(name);
    console.log(`${name.padEnd(width)}  ${`${seconds.toFixed(1)} s`.padStart(7)}  ${message}`);
  });
  if (stop.signal.aborted) return 130;
  if (missed.length === 0) console.log(`All ${chosen.length} removals were found`);
  else
    console.log(
      `${missed.length} of ${chosen.length} removals were not found: ${missed.join(', ')}.\n` +
        'Write a test that fails without the rule, and name it in scripts/mutants/table.ts.',
    );
  return missed.length === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(error instanceof TypeError ? error.message : (error.stack ?? error.message));
    process.exit(2);
  },
);
