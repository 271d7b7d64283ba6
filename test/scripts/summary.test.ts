import { describe, expect, it } from 'vitest';
import { isGreen, type Step, summarize, type TestResult } from '../../scripts/test/summary.ts';

const outcome = (state: TestResult['state'], fields: Partial<TestResult> = {}): TestResult => ({
  project: 'unit',
  file: 'test/a.test.ts',
  test: 'adds',
  state,
  why: '',
  ms: 0,
  ...fields,
});

const step = (exitCode: number, ...results: TestResult[]): Step => ({ name: 'tests on Bun', exitCode, results });

describe('the summary of a run', () => {
  it('the summary of a run lists every failed test with its error and the command that repeats it', () => {
    const failed = outcome('failed', { test: "sums > adds 1+1, it's 2", why: 'expected 1 to be 2' });
    const later = outcome('failed', { project: 'system', test: '' });
    expect(summarize([step(1, failed), step(1, later)])).toContain(
      [
        'Failed:',
        "  [unit] test/a.test.ts > sums > adds 1+1, it's 2 > expected 1 to be 2",
        "    npx bun --bun vitest run --project unit test/a.test.ts -t '^sums adds 1\\+1, it'\\''s 2'",
        '  [system] test/a.test.ts',
        '    npx bun --bun vitest run --project system test/a.test.ts',
        '',
        'tests on Bun ended with exit code 1: 1 failed.',
        'tests on Bun ended with exit code 1: 1 failed.',
      ].join('\n'),
    );
  });

  it('the summary of a run lists the ten slowest tests', () => {
    const passed = Array.from({ length: 12 }, (_, at) => outcome('passed', { test: `test ${at}`, ms: 1_000 * at }));
    const lines = summarize([step(0, ...passed)]).split('\n');
    expect(lines.slice(0, 12)).toEqual([
      'Slowest tests:',
      ...[11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((at) => `  ${at}.0 s [unit] test/a.test.ts > test ${at}`),
      '',
    ]);
  });

  it('the summary of a run counts the tests of each project', () => {
    const unit = [outcome('passed', { ms: 1_200 }), outcome('skipped'), outcome('passed', { file: 'test/b.test.ts' })];
    const system = [
      outcome('failed', { project: 'system', ms: 300 }),
      outcome('failed', { project: 'system', test: '' }),
    ];
    expect(summarize([step(0, ...unit), step(1, ...system)])).toContain(
      [
        'Projects:',
        '  unit: 2 passed, 0 failed, 1 skipped in 2 files, 1.2 s',
        '  system: 0 passed, 1 failed, 0 skipped in 1 files, 0.3 s',
        '',
      ].join('\n'),
    );
  });

  it('the summary of a run groups skipped tests by reason and file', () => {
    const why = 'needs chromium (apt-get install chromium)';
    const skipped = [outcome('skipped', { why }), outcome('skipped', { why, test: 'draws' })];
    const other = outcome('skipped', { why: 'needs spin (apt-get install spin)', file: 'test/b.test.ts' });
    const folder = outcome('skipped', { why, test: '', file: 'test/c' });
    expect(summarize([step(0, ...skipped, other, folder)])).toContain(
      [
        ...[`Skipped: ${why}`, '  [unit] test/a.test.ts (2)', '  [unit] test/c', ''],
        ...['Skipped: needs spin (apt-get install spin)', '  [unit] test/b.test.ts (1)', ''],
      ].join('\n'),
    );
  });

  it('the summary of a run reports that all tests passed', () => {
    expect(summarize([step(0, outcome('passed'))])).toMatch(/^All tests passed\.$/m);
  });

  it('the summary of a run reports a step that exited with an error but without a failed test', () => {
    const steps = [step(137)];
    expect(summarize(steps)).toBe('tests on Bun ended with exit code 137: no failed test was reported.');
    expect(isGreen(steps)).toBe(false);
  });
});
