import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestResult } from '../test/summary.ts';
import { type Mutant, removeRule } from './mutant.ts';

const root = join(import.meta.dirname, '../..');

/** The result of the test of a rule. */
export interface Finding {
  /** True if the test passed with the rule in place, and failed without the rule. */
  readonly found: boolean;
  /** Duration of the run without the rule. */
  readonly seconds: number;
  readonly message: string;
}

type NamedMutant = readonly [name: string, mutant: Mutant];

/** Runs the tests of all rules with the rules in place. Then runs each test without its rule, two tests at a time. */
export async function runMutants(
  chosen: readonly NamedMutant[],
  signal: AbortSignal,
  report: (name: string, finding: Finding) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-mutants-'));
  chmodSync(folder, 0o755); // The tests put files of PostgreSQL, which runs as another user, into this folder.
  try {
    const trees = ['one', 'two'].map((name) => copyTree(join(folder, name)));
    const before = await runTests(trees[0]!, chosen, signal);
    const queue = [...chosen];
    const work = async (tree: string) => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [name, mutant] = next;
        const finding = findingBefore(mutant, before) ?? (await runWithout(tree, next, signal).catch(failed));
        if (!signal.aborted) report(name, finding);
      }
    };
    await Promise.all(trees.map(work));
  } finally {
    // Servers of an interrupted test can still write to the folder.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

const failed = ({ message }: Error): Finding => ({ found: false, seconds: 0, message });

/** Entries of the tree that the copies share. */
const shared = ['node_modules', 'dist'];
const omitted = [...shared, '.git', 'flagmeter-data'];

/** Copies the tree. Tests in a copy do not build, because they would replace `dist` by the build of a mutant. */
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

async function runWithout(tree: string, named: NamedMutant, signal: AbortSignal): Promise<Finding> {
  const [, mutant] = named;
  const restore = removeRule(tree, mutant);
  const began = performance.now();
  const results = await runTests(tree, [named], signal).finally(restore);
  const seconds = (performance.now() - began) / 1000;
  const by = results.find((result) => matchesMutant(mutant, result) && result.state === 'failed');
  const other = results.find(({ state }) => state === 'failed');
  const message =
    by === undefined
      ? `not found by ${mutant.test}: ${other?.why ?? 'its test passes without the rule'}`
      : `${by.file}: ${by.test}`;
  return { found: by !== undefined, seconds, message };
}

/** Runs the tests of some rules in a tree, on Bun. */
async function runTests(tree: string, chosen: readonly NamedMutant[], signal: AbortSignal): Promise<TestResult[]> {
  if (signal.aborted) return [];
  const report = join(tree, 'outcomes.ndjson');
  rmSync(report, { force: true });
  const files = new Set(chosen.map(([, { test }]) => test));
  const titles = chosen.map(([, { title }]) => title.replace(/[^\w ]/g, '\\$&'));
  const child = spawn(
    join(tree, 'node_modules/.bin/bun'),
    [
      ...['--bun', 'vitest', 'run', '--project=unit', `--maxWorkers=${Math.min(files.size, 2)}`],
      ...[`--reporter=${join(tree, 'scripts/test/reporter.ts')}`, `--testNamePattern=${titles.join('|')}`],
      ...files,
    ],
    {
      cwd: tree,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // In its own group, so that its workers end with it.
      env: { ...process.env, OUTCOMES: report, TMPDIR: dirname(tree) },
    },
  );
  const output = await collectOutput(child, signal);
  if (existsSync(report))
    return readFileSync(report, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  if (signal.aborted) return [];
  throw new Error(`Cannot run ${[...files].join(' ')}:\n${output}`);
}

/** Resolves with the output of a process when it has ended. Ends its process group if the run is interrupted. */
function collectOutput(child: ChildProcess, signal: AbortSignal): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const end = () => void (child.exitCode === null && process.kill(-child.pid!));
  signal.addEventListener('abort', end);
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', () => {
      signal.removeEventListener('abort', end);
      resolve(output);
    });
  });
}
