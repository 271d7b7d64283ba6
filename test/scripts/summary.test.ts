import { describe, expect, it } from 'vitest';
import { isGreen, type Outcome, type Step, summarize } from '../../scripts/test/summary.ts';

const outcome = (state: Outcome['state'], fields: Partial<Outcome> = {}): Outcome => ({
  ...{ project: 'unit', file: 'test/a.test.ts', test: 'adds', state, why: '' },
  ...fields,
});

const step = (exitCode: number, ...outcomes: Outcome[]): Step => ({
  name: 'tests on Bun',
  exitCode,
  outcomes,
});

describe('the summary of a run', () => {
  it('lists every failed test with its project and its error', () => {
    const failed = outcome('failed', { why: 'expected 1 to be 2' });
    const later = outcome('failed', { project: 'system', test: 'ends' });
    expect(summarize([step(1, failed), step(1, later)])).toBe(
      [
        'Failed:',
        '  [unit] test/a.test.ts > adds > expected 1 to be 2',
        '  [system] test/a.test.ts > ends',
        '',
        'tests on Bun ended with exit code 1: 1 failed.',
        'tests on Bun ended with exit code 1: 1 failed.',
      ].join('\n'),
    );
  });

  it('lists retried tests apart, and stays green', () => {
    const steps = [step(0, outcome('retried', { why: 'timed out' }))];
    expect(summarize(steps)).toBe(
      'Passed on the second attempt:\n  [unit] test/a.test.ts > adds > timed out\n\nAll tests passed.',
    );
    expect(isGreen(steps)).toBe(true);
  });

  it('groups skipped tests by reason and file', () => {
    const why = 'needs chromium (apt-get install chromium)';
    const skipped = [outcome('skipped', { why }), outcome('skipped', { why, test: 'draws' })];
    const other = outcome('skipped', { why: 'needs spin (apt-get install spin)', file: 'test/b.test.ts' });
    const folder = outcome('skipped', { why, test: '', file: 'test/c' });
    expect(summarize([step(0, ...skipped, other, folder)])).toBe(
      [
        ...[`Skipped: ${why}`, '  [unit] test/a.test.ts (2)', '  [unit] test/c', ''],
        ...['Skipped: needs spin (apt-get install spin)', '  [unit] test/b.test.ts (1)', ''],
        'All tests passed.',
      ].join('\n'),
    );
  });

  it('reports a step that ended without a failed test', () => {
    const steps = [step(137)];
    expect(summarize(steps)).toBe('tests on Bun ended with exit code 137: no failed test was reported.');
    expect(isGreen(steps)).toBe(false);
  });
});
