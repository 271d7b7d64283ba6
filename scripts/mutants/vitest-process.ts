/**
 * Runs tests of the tree in the working directory, whenever a message requests it. The runs share the compiled sources.
 * A new instance of Vitest for each run would triple the duration.
 */
import { createVitest } from 'vitest/node';

/** A request to run unit tests. The response is an empty message after the run. */
export interface RunRequest {
  readonly files: readonly string[];
  /** Regular expression that the titles of the tests match. */
  readonly pattern: string;
  /** Sources that were changed since the previous run. */
  readonly changed: readonly string[];
}

const root = process.cwd();
const reporter = `${root}/scripts/test/reporter.ts`;
const vitest = await createVitest('test', {
  root,
  project: ['unit'],
  reporters: [reporter],
  maxWorkers: 1,
  watch: false,
});

await vitest.standalone();

async function run({ files, pattern, changed }: RunRequest): Promise<void> {
  for (const file of changed) vitest.invalidateFile(`${root}/${file}`);
  vitest.setGlobalTestNamePattern(new RegExp(pattern));
  await vitest.runTestSpecifications(await vitest.globTestSpecifications([...files]));
  process.send!({});
}

process.on('message', (request: RunRequest) => {
  run(request).catch((error: Error) => {
    console.error(error);
    process.exit(1);
  });
});
process.once('disconnect', () => process.exit());
