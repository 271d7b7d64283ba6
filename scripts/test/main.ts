/**
 * `npm test`: lints, builds, and runs the unit and system tests. `npm run test:proofs`: builds, and runs the tests that take
 * minutes. A failing project does not stop later ones. The end lists every failed, retried and skipped test. Arguments select
 * files of all projects, as with vitest.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isGreen, type Outcome, type Step, summarize } from './summary.ts';
import { unmatched } from './unmatched.ts';

const root = join(import.meta.dirname, '../..');
const files = process.argv.slice(2).filter((argument) => argument !== '--proofs');
const isProofs = process.argv.includes('--proofs');
const wrong = unmatched(root, files);
if (wrong !== undefined) {
  console.error(`Cannot run the tests of ${wrong}: no test file path contains it`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'flagmeter-tests-'));

function run(name: string, command: string, args: readonly string[]): Step {
  console.log(`\n== ${name}`);
  const path = join(folder, `${name}.ndjson`);
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, OUTCOMES: path },
  });
  return { name, exitCode: status ?? 1, outcomes: readOutcomes(path) };
}

function readOutcomes(path: string): Outcome[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Arguments that make vitest run some projects and report to this run. */
function testsOf(projects: readonly string[], workers: string): string[] {
  const reporter = join(import.meta.dirname, 'reporter.ts');
  return [
    'run',
    ...projects.map((project) => `--project=${project}`),
    ...[`--maxWorkers=${workers}`, '--reporter=default', `--reporter=${reporter}`, '--passWithNoTests'],
    ...files,
  ];
}

/** Many tests wait for processes or disks, so more of them than processors run in parallel. */
const overlapping = String(Math.ceil(availableParallelism() * 1.5));

const steps: Step[] = [];
if (files.length === 0 && !isProofs) steps.push(run('lint', 'npm', ['run', '--silent', 'lint']));
steps.push(run('build', 'npm', ['run', '--silent', 'build']));
// Without the executable, most tests would fail for that reason only.
if (steps.at(-1)?.exitCode === 0) {
  if (!isProofs) {
    steps.push(run('tests on Bun', 'bun', ['--bun', 'vitest', ...testsOf(['unit'], overlapping)]));
    steps.push(run('tests on Node', 'vitest', testsOf(['system'], overlapping)));
  }
  if (isProofs || files.length > 0)
    steps.push(run('proofs', 'vitest', testsOf(['engine', 'proofs'], overlapping)));
}
rmSync(folder, { recursive: true });
console.log(`\n${summarize(steps)}`);
process.exitCode = isGreen(steps) ? 0 : 1;
