/**
 * `npm test`: lints, builds, and runs the unit and system tests. `npm run test:proofs`: builds, and runs the tests that
 * take minutes. A failing project does not stop later projects. Arguments are passed to vitest: names select files of
 * all projects, and `--changed` selects the files that the uncommitted changes concern.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { environmentFor } from './colour.ts';
import { isGreen, projectsOnBun, type Step, summarize, type TestResult } from './summary.ts';
import { unmatched } from './unmatched.ts';

const root = join(import.meta.dirname, '../..');
const given = process.argv.slice(2).filter((argument) => argument !== '--proofs');
const isProofs = process.argv.includes('--proofs');
const namesFiles = given.some((argument) => !argument.startsWith('-'));
const wrong = unmatched(root, given);
if (wrong !== undefined) {
  console.error(`Cannot run the tests of ${wrong}: no test file path contains it`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'flagmeter-tests-'));
const environment = environmentFor(process.env, process.stdout.isTTY);

/** Runs a step. @param isQuiet true to print its output only after a failure, as other steps run at the same time */
function run(name: string, command: string, args: readonly string[], isQuiet = false): Promise<Step> {
  if (!isQuiet) console.log(`\n== ${name}`);
  const path = join(folder, `${name}.ndjson`);
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', ...(isQuiet ? (['pipe', 'pipe'] as const) : (['inherit', 'inherit'] as const))],
    env: { ...environment, OUTCOMES: path },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (status) => {
      if (isQuiet && status !== 0) console.log(`\n== ${name}\n${readable(output)}`);
      resolve({ name, exitCode: status ?? 1, results: readResults(path) });
    });
  });
}

/** Removes escape codes, as Biome ignores `NO_COLOR`. */
function readable(output: string): string {
  return environment['NO_COLOR'] === undefined ? output : stripVTControlCharacters(output);
}

function readResults(path: string): TestResult[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Returns arguments that make vitest run some projects, print a line for each file, and report to this run. */
function listTests(...projects: readonly string[]): string[] {
  // Many tests wait for processes or disks, so there are more workers than processors. Proofs also measure, so they
  // have fewer workers.
  const workers = Math.ceil(availableParallelism() * (isProofs ? 1.5 : 2));
  const reporter = join(import.meta.dirname, 'reporter.ts');
  return [
    'run',
    ...projects.map((project) => `--project=${project}`),
    ...[`--maxWorkers=${workers}`, `--reporter=${reporter}`, '--silent=passed-only', '--passWithNoTests'],
    ...given,
  ];
}

const linted = namesFiles || isProofs ? undefined : run('lint', 'npm', ['run', '--silent', 'lint'], true);
const steps = [await run('build', 'bun', ['scripts/test/build.ts'])];
// Most tests need the executable. If the build failed, the tests are skipped.
if (steps[0]!.exitCode === 0) {
  if (!isProofs)
    for (const project of projectsOnBun)
      steps.push(await run(`${project} tests`, 'bun', ['--bun', 'vitest', ...listTests(project)]));
  if (isProofs || namesFiles) steps.push(await run('proofs', 'vitest', listTests('engine', 'browser', 'proofs')));
}
if (linted !== undefined) steps.unshift(await linted);
rmSync(folder, { recursive: true });
console.log(`\n${summarize(steps)}`);
process.exitCode = isGreen(steps) ? 0 : 1;
