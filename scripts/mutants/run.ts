import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestResult } from '../test/summary.ts';
import { type Mutant, removeRule } from './mutant.ts';
import { TestRuns } from './test-runs.ts';

const root = join(import.meta.dirname, '../..');

/** Result of running the test of a rule with the rule in place, and without the rule. */
export interface Finding {
  /** True if the test passed with the rule in place, and failed without the rule. */
  readonly found: boolean;
  /** Duration of the run without the rule. */
  readonly seconds: number;
  readonly message: string;
}

type NamedMutant = readonly [name: string, mutant: Mutant];

/** Runs the tests of all rules with the rules in place. Then runs each test without its rule. */
export async function runMutants(
  chosen: readonly NamedMutant[],
  signal: AbortSignal,
  report: (name: string, finding: Finding) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-mutants-'));
  chmodSync(folder, 0o755); // The tests put files of PostgreSQL, which runs as another user, into this folder.
  const tree = copyTree(join(folder, 'tree'));
  const runs = new TestRuns(tree, signal);
  try {
    const before = await runs.run(chosen.map(([, mutant]) => mutant));
    for (const [name, mutant] of chosen) {
      const finding = findingBefore(mutant, before) ?? (await runWithout(tree, mutant, runs).catch(failed));
      if (signal.aborted) return;
      report(name, finding);
    }
  } finally {
    await runs.close();
    // Servers of an interrupted test can still write to the folder.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

const failed = ({ message }: Error): Finding => ({ found: false, seconds: 0, message });

/** Entries of the tree that the copy shares. */
const shared = ['node_modules', 'dist'];
const omitted = [...shared, '.git', 'flagmeter-data'];

/** Copies the tree. Tests in the copy do not build, because they would replace `dist` by the build of a mutant. */
function copyTree(folder: string): string {
  mkdirSync(folder);
  const names = readdirSync(root).filter((name) => !omitted.includes(name));
  const { status } = spawnSync('cp', ['-R', ...names, folder], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`Cannot copy the tree to ${folder}`);
  for (const name of shared) symlinkSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, 'test/support/fresh-build.ts'), 'export default () => {};\n');
  return folder;
}

const matchesMutant = ({ test, title }: Mutant, result: TestResult) =>
  result.file === test && result.test.includes(title);

/** Returns the finding about a test that fails although all rules are in place; `undefined` if the test passes. */
function findingBefore(mutant: Mutant, before: readonly TestResult[]): Finding | undefined {
  const own = before.filter((result) => matchesMutant(mutant, result) && !isLeftOut(result));
  const bad = own.find(({ state }) => state !== 'passed');
  if (own.length > 0 && bad === undefined) return undefined;
  const { test, title } = mutant;
  const message =
    bad === undefined
      ? `${test} has no test '${title}'`
      : `${test}: ${bad.test} ${bad.state} with the rule in place: ${bad.why}`;
  return { found: false, seconds: 0, message };
}

/** True for a test that the pattern of titles excluded. */
const isLeftOut = ({ state, why }: TestResult) => state === 'skipped' && why === '';

async function runWithout(tree: string, mutant: Mutant, runs: TestRuns): Promise<Finding> {
  const restore = removeRule(tree, mutant);
  const began = performance.now();
  const results = await runs.run([mutant], mutant.file).finally(restore);
  const seconds = (performance.now() - began) / 1000;
  const by = results.find((result) => matchesMutant(mutant, result) && result.state === 'failed');
  const other = results.find(({ state }) => state === 'failed');
  const message =
    by === undefined
      ? `not found by ${mutant.test}: ${other?.why ?? 'its test passes without the rule'}`
      : `${by.file}: ${by.test}`;
  return { found: by !== undefined, seconds, message };
}
