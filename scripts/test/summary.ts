/** The result of a test, or of a file that could not be run. */
export interface TestResult {
  readonly project: string;
  /** Path of the file in the repository. */
  readonly file: string;
  /** Full name including its groups, separated by ` > `; empty for the file itself. */
  readonly test: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** First line of the error, or the reason why the test was skipped. */
  readonly why: string;
  readonly ms: number;
}

/** A step of the run: a build, or the projects of one runtime. */
export interface Step {
  readonly name: string;
  readonly exitCode: number;
  readonly results: readonly TestResult[];
}

/** Projects that `npm test` runs on Bun. All others run on Node. */
export const projectsOnBun = ['unit', 'system'];

/** Describes the steps: skipped tests by reason, slowest tests, projects, and each failed test with its command. */
export function summarize(steps: readonly Step[]): string {
  const results = steps.flatMap((step) => step.results);
  const of = (state: TestResult['state']) => results.filter((result) => result.state === state);
  return [
    ...skippedLines(of('skipped')),
    ...slowestLines(results),
    ...projectLines(results),
    ...failedLines(of('failed')),
    ...steps.filter(({ exitCode }) => exitCode !== 0).map(failedStep),
    ...(isGreen(steps) ? ['All tests passed.'] : []),
  ].join('\n');
}

export function isGreen(steps: readonly Step[]): boolean {
  return steps.every(({ exitCode, results }) => exitCode === 0 && results.every(isFine));
}

const isFine = ({ state }: TestResult) => state !== 'failed';

function failedStep({ name, exitCode, results }: Step): string {
  const failed = results.filter((result) => !isFine(result)).length;
  const what = failed === 0 ? 'no failed test was reported' : `${failed} failed`;
  return `${name} ended with exit code ${exitCode}: ${what}.`;
}

function failedLines(results: readonly TestResult[]): string[] {
  if (results.length === 0) return [];
  const lines = results.flatMap((result) => {
    const name = [formatName(result), result.why].filter(Boolean).join(' > ');
    return [`  ${name}`, ...(result.project === '' ? [] : [`    ${formatCommand(result)}`])];
  });
  return ['Failed:', ...lines, ''];
}

const formatName = ({ project, file, test }: TestResult) => [`[${project}] ${file}`, test].filter(Boolean).join(' > ');

/**
 * Returns the command that repeats a test in its project and runtime. Vitest compares a pattern with the full name of a
 * test, in which spaces separate the groups.
 */
function formatCommand({ project, file, test }: TestResult): string {
  const program = projectsOnBun.includes(project) ? 'npx bun --bun vitest' : 'npx vitest';
  const command = `${program} run --project ${project} ${file}`;
  if (test === '') return command;
  const pattern = test.replaceAll(' > ', ' ').replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return `${command} -t '^${pattern.replaceAll("'", "'\\''")}'`;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

function slowestLines(results: readonly TestResult[]): string[] {
  const slowest = results.filter(({ ms }) => ms > 0).sort((one, other) => other.ms - one.ms);
  if (slowest.length === 0) return [];
  const lines = slowest.slice(0, 10).map((result) => `  ${seconds(result.ms)} ${formatName(result)}`);
  return ['Slowest tests:', ...lines, ''];
}

/** Lists the counts of each project, and the time of its tests, summed over all workers. */
function projectLines(results: readonly TestResult[]): string[] {
  const tests = results.filter(({ test }) => test !== '');
  if (tests.length === 0) return [];
  const lines = grouped(tests, ({ project }) => project).map(([project, all]) => {
    const count = (state: TestResult['state']) => all.filter((result) => result.state === state).length;
    const files = new Set(all.map(({ file }) => file)).size;
    const total = all.reduce((sum, { ms }) => sum + ms, 0);
    const states = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
    return `  ${project}: ${states} in ${files} files, ${seconds(total)}`;
  });
  return ['Projects:', ...lines, ''];
}

/** Lists each reason for skipping, with its files. */
function skippedLines(results: readonly TestResult[]): string[] {
  return grouped(results, ({ why }) => why).flatMap(([why, skipped]) => [
    `Skipped${why === '' ? '' : `: ${why}`}`,
    ...grouped(skipped, ({ project, file }) => `[${project}] ${file}`).map(
      ([file, tests]) => `  ${file}${tests[0]?.test === '' ? '' : ` (${tests.length})`}`,
    ),
    '',
  ]);
}

function grouped<T>(items: readonly T[], getKey: (item: T) => string): [string, readonly T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(getKey(item));
    if (group === undefined) groups.set(getKey(item), [item]);
    else group.push(item);
  }
  return [...groups];
}
