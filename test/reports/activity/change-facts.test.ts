import { expect, test } from 'vitest';
import { changesBetween } from '../../../src/accounts/audit-log.ts';
import { changeFact, isChange } from '../../../src/reports/activity/change-facts.ts';
import type { AuditEntry } from '../../../src/storage/lmdb/records.ts';

function entry(action: AuditEntry['action'], name: string, more: Partial<AuditEntry> = {}): AuditEntry {
  const [type = ''] = action.split('.');
  const actor = { type: 'user', id: 'user_1', name: 'ada@shop.example', address: '192.0.2.1' } as const;
  return { number: 7, at: 0, actor, action, teamId: 'team_1', target: { type, id: 'app_1', name }, ...more };
}

const shown = ({ type, name }: AuditEntry['actor']) => ({ type, name });

test.each([
  ['feature.declared', 'checkout', {}, 'Declared'],
  [
    'feature.changed',
    'checkout',
    { changes: [{ field: 'archived', from: 'yes', to: 'no' }] },
    'Restored from the archive',
  ],
  ['feature.note-deleted', 'checkout', {}, 'Note deleted'],
  ['environment.created', 'Staging', {}, 'Environment Staging created'],
  ['key.deleted', 'Web', { applicationId: 'app_1' }, 'Key Web deleted'],
  [
    'metric.changed',
    'load',
    { changes: [{ field: 'unit', from: 's', to: null }] },
    'Metric load changed: unit s → none',
  ],
  ['experiment.planned', 'checkout: One page', {}, 'Experiment One page planned'],
] as const)('changeFact shows the action %s on %s with %j as "%s"', (action, name, more, text) => {
  expect(changeFact(entry(action, name, more), shown).text).toBe(text);
});

test('changeFact assigns an experiment to its flag', () => {
  expect(changeFact(entry('experiment.planned', 'checkout: A: B'), shown)).toMatchObject({
    feature: 'checkout',
    subject: 'A: B',
  });
});

test('isChange rejects audit entries without an application, and entries that the feed shows separately', () => {
  const actions = ['sign-in.succeeded', 'member.added', 'feature.noted', 'key.leaked', 'api-key.created'] as const;
  expect(actions.filter((action) => isChange(entry(action, 'x')))).toEqual([]);
  expect(isChange(entry('key.created', 'x', { applicationId: 'app_1' }))).toBe(true);
  expect(isChange(entry('key.created', 'of an earlier release'))).toBe(false);
});

test('changesBetween compares settings as text, and omits updatedAt', () => {
  const before = {
    archived: false,
    split: null,
    owners: [],
    rollout: null,
    snoozedUntil: null,
    updatedAt: 1,
    name: 'x'.repeat(400),
  };
  const split = [
    ['on', 1],
    ['off', 3],
  ];
  const owners = [{ type: 'text', id: null, name: 'Payments' }];
  const rollout = [{ at: 0, split }];
  const after = { archived: true, split, owners, rollout, snoozedUntil: 0, updatedAt: 2, name: 'y'.repeat(400) };
  expect(changesBetween(before, after).changes).toEqual([
    { field: 'archived', from: 'no', to: 'yes' },
    { field: 'split', from: null, to: 'on 1, off 3' },
    { field: 'owners', from: null, to: 'Payments' },
    { field: 'rollout', from: null, to: '1970-01-01T00:00:00.000Z on 25%, off 75%' },
    { field: 'snoozedUntil', from: null, to: '1970-01-01T00:00:00.000Z' },
    { field: 'name', from: `${'x'.repeat(299)}…`, to: `${'y'.repeat(299)}…` },
  ]);
});
