/** The result of a test, or of a file that could not be run. */
export interface Outcome {
  readonly project: string;
  /** Path of the file in the repository. */
  readonly file: string;
  /** Full name including its groups, separated by ` > `; empty for the file itself. */
  readonly test: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** First line of the error, or the reason for skipping. */
  readonly why: string;
  readonly ms: number;
}

/** A step of the run: a build, or the projects of one runtime. */
export interface Step {
  readonly name: string;
  readonly exitCode: number;
  readonly outcomes: readonly Outcome[];
}

/** Describes the steps: skipped tests by reason, the slowest tests, the projects, and each failed test with its command. */
export function summarize(steps: readonly Step[]): string {
  const outcomes = steps.flatMap((step) => step.outcomes);
  const of = (state: Outcome['state']) => outcomes.filter((outcome) => outcome.state === state);
  return [
    ...skippedLines(of('skipped')),
    ...slowestLines(outcomes),
    ...projectLines(outcomes),
    ...failedLines(of('failed')),
    ...steps.filter(({ exitCode }) => exitCode !== 0).map(failedStep),
    ...(isGreen(steps) ? ['All tests passed.'] : []),
  ].join('\n');
}

export function isGreen(steps: readonly Step[]): boolean {
  return steps.every(({ exitCode, outcomes }) => exitCode === 0 && outcomes.every(isFine));
}

const isFine = ({ state }: Outcome) => state !== 'failed';

function failedStep({ name, exitCode, outcomes }: Step): string {
  const failed = outcomes.filter((outcome) => !isFine(outcome)).length;
  const what = failed === 0 ? 'no failed test was reported' : `${failed} failed`;
  return `${name} ended with exit code ${exitCode}: ${what}.`;
}

function failedLines(outcomes: readonly Outcome[]): string[] {
  if (outcomes.length === 0) return [];
  const lines = outcomes.flatMap((outcome) => {
    const name = [nameOf(outcome), outcome.why].filter(Boolean).join(' > ');
    return [`  ${name}`, ...(outcome.project === '' ? [] : [`    ${commandOf(outcome)}`])];
  });
  return ['Failed:', ...lines, ''];
}

const nameOf = ({ project, file, test }: Outcome) => [`[${project}] ${file}`, test].filter(Boolean).join(' > ');

/** The command that repeats a test in its project and runtime. Vitest takes a pattern of the name, whose groups it joins with spaces. */
function commandOf({ project, file, test }: Outcome): string {
  const program = project === 'unit' ? 'npx bun --bun vitest' : 'npx vitest';
  const command = `${program} run --project ${project} ${file}`;
  if (test === '') return command;
  const pattern = test.replaceAll(' > ', ' ').replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return `${command} -t '^${pattern.replaceAll("'", "'\\''")}'`;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

function slowestLines(outcomes: readonly Outcome[]): string[] {
  const slowest = outcomes.filter(({ ms }) => ms > 0).sort((one, other) => other.ms - one.ms);
  if (slowest.length === 0) return [];
  const lines = slowest.slice(0, 10).map((outcome) => `  ${seconds(outcome.ms)} ${nameOf(outcome)}`);
  return ['Slowest tests:', ...lines, ''];
}

/** The counts of each project, and the time of its tests on all workers together. */
function projectLines(outcomes: readonly Outcome[]): string[] {
  const tests = outcomes.filter(({ test }) => test !== '');
  if (tests.length === 0) return [];
  const lines = grouped(tests, ({ project }) => project).map(([project, all]) => {
    const count = (state: Outcome['state']) => all.filter((outcome) => outcome.state === state).length;
    const files = new Set(all.map(({ file }) => file)).size;
    const total = all.reduce((sum, { ms }) => sum + ms, 0);
    const states = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
    return `  ${project}: ${states} in ${files} files, ${seconds(total)}`;
  });
  return ['Projects:', ...lines, ''];
}

/** Each reason, with its files. */
function skippedLines(outcomes: readonly Outcome[]): string[] {
  return grouped(outcomes, ({ why }) => why).flatMap(([why, skipped]) => [
    `Skipped${why === '' ? '' : `: ${why}`}`,
    ...grouped(skipped, ({ project, file }) => `[${project}] ${file}`).map(
      ([file, tests]) => `  ${file}${tests[0]?.test === '' ? '' : ` (${tests.length})`}`,
    ),
    '',
  ]);
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): [string, readonly T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups];
}
