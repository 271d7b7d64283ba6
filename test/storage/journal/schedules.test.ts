import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from './lossy-disk.ts';
import { Schedule, type Step, type Trouble } from './schedule.ts';

const actions: readonly Step['action'][] = [
  ...(['append', 'append', 'append', 'append', 'read', 'fold', 'forget'] as const),
  ...(['prepare', 'prepare', 'recycle', 'restart', 'stop'] as const),
];
const kinds = {
  any: ['open', 'create', 'read', 'write', 'sync', 'rename', 'remove', 'syncDirectory'],
  open: ['list', 'open', 'create', 'syncDirectory'],
  write: ['write'],
  sync: ['sync'],
} as const satisfies Record<string, readonly Operation['kind'][]>;
const trouble = fc.oneof(
  fc.record<Trouble>({
    what: fc.constantFrom('EIO', 'ENOSPC', 'kill', 'power loss', 'power loss'),
    kinds: fc.constantFrom(kinds.any, kinds.write, kinds.sync),
    at: fc.integer({ min: 1, max: 9 }),
    times: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record<Trouble>({
    what: fc.constant('EMFILE'),
    kinds: fc.constant(kinds.open),
    at: fc.integer({ min: 1, max: 9 }),
    times: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record<Trouble>({
    what: fc.constant('short'),
    kinds: fc.constant(kinds.write),
    at: fc.integer({ min: 1, max: 2 }),
    times: fc.integer({ min: 1, max: 2 }),
  }),
);
const step = fc.record<Step>({
  action: fc.constantFrom(...actions),
  amount: fc.integer({ min: 0, max: 4_500 }),
  troubles: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(trouble, { minLength: 1, maxLength: 3 }) },
  ),
});
const schedules = fc.tuple(fc.nat(), fc.array(step, { maxLength: 40, size: 'max' }));

const seed = Number(process.env['JOURNAL_SEED'] ?? 1);
const numRuns = Number(process.env['JOURNAL_SCHEDULES'] ?? 500);

function check(lies?: (operation: Operation) => boolean) {
  return fc.check(
    fc.property(schedules, ([disk, steps]) => new Schedule(disk, lies).run(steps)),
    { seed, numRuns, endOnFailure: lies !== undefined },
  );
}

describe('the journal in random schedules of appends, folds, crashes and failures', () => {
  it('a journal loses no acknowledged frame, returns no frame twice, and returns no refused frame', {
    timeout: 120_000 + 20 * numRuns,
  }, () => {
    const details = check();
    expect(details.failed, fc.defaultReportMessage(details)).toBe(false);
  });

  it.each<[string, (operation: Operation) => boolean]>([
    ['a writer without fdatasync', ({ kind, name }) => kind === 'sync' && name.endsWith('.segment')],
    ['a directory that is not synced', ({ kind }) => kind === 'syncDirectory'],
    ['a spare segment whose header is not synced', ({ kind, name }) => kind === 'sync' && name === 'next.tmp'],
    ['refused frames that are not invalidated', ({ kind, length }) => kind === 'write' && length === 16],
  ])('the check of random schedules fails with %s', (_, lies) => {
    expect(check(lies).failed).toBe(true);
  });
});
