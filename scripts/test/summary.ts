/** A test that failed, was retried or was skipped, or a file that could not be run. */
export interface Outcome {
  readonly project: string;
  /** Path of the file in the repository. */
  readonly file: string;
  /** Full name including its groups; empty for the file itself. */
  readonly test: string;
  readonly state: 'failed' | 'retried' | 'skipped';
  /** First line of the error, or the reason for skipping. */
  readonly why: string;
}

/** A step of the run: a build, or the projects of one runtime. */
export interface Step {
  readonly name: string;
  readonly exitCode: number;
  readonly outcomes: readonly Outcome[];
}

/** Describes the steps: skipped tests by reason, then retried and failed tests one by one. */
export function summarize(steps: readonly Step[]): string {
  const outcomes = steps.flatMap((step) => step.outcomes);
  const of = (state: Outcome['state']) => outcomes.filter((outcome) => outcome.state === state);
  return [
    ...skippedLines(of('skipped')),
    ...listed('Passed on the second attempt', of('retried')),
    ...listed('Failed', of('failed')),
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

function listed(heading: string, outcomes: readonly Outcome[]): string[] {
  if (outcomes.length === 0) return [];
  const lines = outcomes.map(
    ({ project, file, test, why }) => `  ${[`[${project}] ${file}`, test, why].filter(Boolean).join(' > ')}`,
  );
  return [`${heading}:`, ...lines, ''];
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
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups];
}
